import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { Duplex } from 'node:stream'
import { createSecureContext, TLSSocket } from 'node:tls'
import type { Certificate } from './connection.ts'

export type CertificateFacts = {
  endsAt: Date
  subject: string
  /** The kind of its key, such as `rsa`, and its length if it is one. */
  key: { type: string; bits: number | null }
}

export type CertificateRule =
  | 'no-certificate'
  | 'old-pfx'
  | 'passphrase-missing'
  | 'passphrase-wrong'
  | 'no-pfx'
  | 'no-pem'
  | 'own-first'
  | 'other-key'
  | 'damaged'
  | 'no-key'
  | 'damaged-key'

/** Why a certificate cannot be used. The message is for operators. */
export class CertificateFault extends Error {
  readonly rule: CertificateRule

  constructor(rule: CertificateRule, message: string) {
    super(message)
    this.rule = rule
  }
}

/** Reads the company's certificate. Throws a `CertificateFault` if it cannot be used. */
export function readCertificate(certificate: Certificate): CertificateFacts {
  const own = certificate.kind === 'pfx' ? ownInPfx(certificate) : ownInPem(certificate)
  const { asymmetricKeyType: type = 'unknown', asymmetricKeyDetails } = own.publicKey
  return {
    endsAt: new Date(own.validTo),
    subject: own.subject.replaceAll('\n', ', '),
    key: { type, bits: asymmetricKeyDetails?.modulusLength ?? null },
  }
}

type Pfx = Extract<Certificate, { kind: 'pfx' }>
type Pem = Extract<Certificate, { kind: 'pem' }>

function ownInPfx({ pfx, passphrase }: Pfx): X509Certificate {
  try {
    const context = createSecureContext({
      pfx: Buffer.from(pfx, 'base64'),
      ...(passphrase === null ? {} : { passphrase }),
    })
    // Only a socket gives the certificate of a PFX. This socket is connected to nothing.
    const unconnected = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
    const socket = new TLSSocket(unconnected, { isServer: true, secureContext: context })
    const own = socket.getX509Certificate()
    socket.destroy()
    if (own) return own
  } catch (error) {
    throw pfxFault(error as NodeJS.ErrnoException, passphrase)
  }
  throw new CertificateFault(
    'no-certificate',
    'the PFX file holds no certificate; export it again with its key',
  )
}

function pfxFault(
  { code, message }: NodeJS.ErrnoException,
  passphrase: string | null,
): CertificateFault {
  if (code === 'ERR_CRYPTO_UNSUPPORTED_OPERATION' || /unsupported/i.test(message)) {
    return new CertificateFault(
      'old-pfx',
      'the PFX file is encrypted in an old way; convert it: ' +
        'openssl pkcs12 -legacy -in old.p12 -nodes -out plain.pem && ' +
        'openssl pkcs12 -export -in plain.pem -out new.p12, then delete plain.pem',
    )
  }
  if (!/mac verify|bad decrypt/i.test(message)) {
    return new CertificateFault(
      'no-pfx',
      'the file is no PFX (.p12 or .pfx) file; certificate and key as PEM are two files',
    )
  }
  return passphrase === null
    ? new CertificateFault(
        'passphrase-missing',
        'the PFX file needs its passphrase; give it with --passphrase-file',
      )
    : new CertificateFault('passphrase-wrong', 'the passphrase of the PFX file is wrong')
}

function ownInPem({ certificate, key, passphrase }: Pem): X509Certificate {
  const chain = certificatesIn(certificate)
  const own = chain[0]
  const privateKey = readKey(key, passphrase)
  if (!own) {
    throw new CertificateFault(
      'no-pem',
      'the certificate is no PEM file: it has no BEGIN CERTIFICATE line',
    )
  }
  if (own.checkPrivateKey(privateKey)) return own
  if (chain.some((other) => other.checkPrivateKey(privateKey))) {
    throw new CertificateFault(
      'own-first',
      "the company's own certificate must be the first in its file, before those of authorities",
    )
  }
  throw new CertificateFault(
    'other-key',
    'the key does not belong to the certificate; both must come from the same request',
  )
}

function certificatesIn(text: string): X509Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  try {
    return blocks.map((block) => new X509Certificate(block))
  } catch {
    throw new CertificateFault('damaged', 'the certificate cannot be read: its file is damaged')
  }
}

function readKey(key: string, passphrase: string | null): KeyObject {
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(key)) {
    throw new CertificateFault('no-key', 'the key is no PEM file: it has no BEGIN PRIVATE KEY line')
  }
  try {
    return createPrivateKey({ key, ...(passphrase === null ? {} : { passphrase }) })
  } catch {
    if (!/ENCRYPTED/.test(key)) throw new CertificateFault('damaged-key', 'the key cannot be read')
    throw passphrase === null
      ? new CertificateFault(
          'passphrase-missing',
          'the key needs its passphrase; give it with --passphrase-file',
        )
      : new CertificateFault('passphrase-wrong', 'the passphrase of the key is wrong')
  }
}
