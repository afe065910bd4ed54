import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { Duplex } from 'node:stream'
import { createSecureContext, TLSSocket } from 'node:tls'
import type { Certificate } from './connection.ts'

export type CertificateFacts = { endsAt: Date; subject: string }

/** Reads the company's certificate. Throws an Error that says what is wrong and what to do. */
export function readCertificate(certificate: Certificate): CertificateFacts {
  const own = certificate.kind === 'pfx' ? ownInPfx(certificate) : ownInPem(certificate)
  return { endsAt: own.validToDate, subject: own.subject.replaceAll('\n', ', ') }
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
    throw new Error(pfxFault(error as NodeJS.ErrnoException, passphrase))
  }
  throw new Error('the PFX file holds no certificate; export it again with its key')
}

function pfxFault({ code, message }: NodeJS.ErrnoException, passphrase: string | null): string {
  if (code === 'ERR_CRYPTO_UNSUPPORTED_OPERATION' || /unsupported/i.test(message)) {
    return (
      'the PFX file is encrypted in an old way; convert it: ' +
      'openssl pkcs12 -legacy -in old.p12 -nodes -out plain.pem && ' +
      'openssl pkcs12 -export -in plain.pem -out new.p12, then delete plain.pem'
    )
  }
  if (/mac verify|bad decrypt/i.test(message)) {
    return passphrase === null
      ? 'the PFX file needs its passphrase; give it with --passphrase-file'
      : 'the passphrase of the PFX file is wrong'
  }
  return 'the file is no PFX (.p12 or .pfx) file; certificate and key as PEM are two files'
}

function ownInPem({ certificate, key, passphrase }: Pem): X509Certificate {
  const chain = certificatesIn(certificate)
  const own = chain[0]
  const privateKey = readKey(key, passphrase)
  if (!own) throw new Error('the certificate is no PEM file: it has no BEGIN CERTIFICATE line')
  if (own.checkPrivateKey(privateKey)) return own
  throw new Error(
    chain.some((other) => other.checkPrivateKey(privateKey))
      ? "the company's own certificate must be the first in its file, before those of authorities"
      : 'the key does not belong to the certificate; both must come from the same request',
  )
}

function certificatesIn(text: string): X509Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  try {
    return blocks.map((block) => new X509Certificate(block))
  } catch {
    throw new Error('the certificate cannot be read: its file is damaged')
  }
}

function readKey(key: string, passphrase: string | null): KeyObject {
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(key)) {
    throw new Error('the key is no PEM file: it has no BEGIN PRIVATE KEY line')
  }
  try {
    return createPrivateKey({ key, ...(passphrase === null ? {} : { passphrase }) })
  } catch {
    const isEncrypted = /ENCRYPTED/.test(key)
    if (isEncrypted && passphrase === null) {
      throw new Error('the key needs its passphrase; give it with --passphrase-file')
    }
    throw new Error(isEncrypted ? 'the passphrase of the key is wrong' : 'the key cannot be read')
  }
}
