import {
  createCipheriv,
  createPrivateKey,
  generateKeyPair,
  pbkdf2Sync,
  randomBytes,
} from 'node:crypto'
import { promisify } from 'node:util'
import forge from 'node-forge'

/** Certificate and key as PEM. */
export type Identity = { certificate: string; key: string }

type Authority = { name: string; key: forge.pki.rsa.PrivateKey; certificate: forge.pki.Certificate }

const DAY_ms = 86_400_000
const generate = promisify(generateKeyPair)

/** The authority of all stand-in banks of a process, and the certificates that it signed. */
export type Trust = {
  ca: string
  server: Identity
  client: Identity
  /** What a bank of this authority gives a client; by default for a year. */
  issue(name: string, endsAt: Date): Identity
  /** A certificate that looks right, of an authority that nobody trusts. */
  foreign(): Identity
}

let made: Promise<Trust> | undefined

/**
 * Made once for a process: to make a key takes long. Each caller has a promise of its own, for
 * tests belong to the file in which what they wait for was begun.
 */
export async function trust(): Promise<Trust> {
  made ??= make()
  return await made
}

async function make(): Promise<Trust> {
  const [own, clients] = await Promise.all([newKey(), newKey()])
  const authority = newAuthority('Autoridade de teste', own)
  const yearAway = new Date(Date.now() + 365 * DAY_ms)
  const issue = (name: string, endsAt: Date) => sign(authority, clients, name, endsAt)
  return {
    ca: forge.pki.certificateToPem(authority.certificate),
    server: sign(authority, own, '127.0.0.1', yearAway),
    client: issue('Padaria Sao Joao', yearAway),
    issue,
    foreign: () => sign(newAuthority('Outra autoridade', own), clients, 'Ninguem', yearAway),
  }
}

async function newKey(): Promise<forge.pki.rsa.PrivateKey> {
  const { privateKey } = await generate('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  })
  return forge.pki.privateKeyFromPem(privateKey)
}

const publicOf = ({ n, e }: forge.pki.rsa.PrivateKey) => forge.pki.setRsaPublicKey(n, e)

function newAuthority(name: string, key: forge.pki.rsa.PrivateKey): Authority {
  const certificate = blank(name, new Date(Date.now() + 3650 * DAY_ms))
  certificate.publicKey = publicOf(key)
  certificate.setIssuer(certificate.subject.attributes)
  certificate.setExtensions([{ name: 'basicConstraints', cA: true, critical: true }])
  certificate.sign(key, forge.md.sha256.create())
  return { name, key, certificate }
}

let serial = 0

function blank(name: string, endsAt: Date): forge.pki.Certificate {
  const certificate = forge.pki.createCertificate()
  serial += 1
  certificate.serialNumber = serial.toString(16).padStart(4, '01')
  // It begins before it ends, also when it has ended already.
  certificate.validity.notBefore = new Date(Math.min(Date.now(), endsAt.getTime()) - DAY_ms)
  certificate.validity.notAfter = endsAt
  certificate.setSubject([{ name: 'commonName', value: name }])
  return certificate
}

function sign(
  authority: Authority,
  key: forge.pki.rsa.PrivateKey,
  name: string,
  endsAt: Date,
): Identity {
  const certificate = blank(name, endsAt)
  certificate.publicKey = publicOf(key)
  certificate.setIssuer(authority.certificate.subject.attributes)
  certificate.setExtensions([
    { name: 'basicConstraints', cA: false },
    { name: 'extKeyUsage', serverAuth: true, clientAuth: true },
    {
      name: 'subjectAltName',
      altNames: [
        { type: 7, ip: '127.0.0.1' },
        { type: 2, value: 'localhost' },
        ...(/^[a-z.]+$/.test(name) ? [{ type: 2, value: name }] : []),
      ],
    },
  ])
  certificate.sign(authority.key, forge.md.sha256.create())
  return {
    certificate: forge.pki.certificateToPem(certificate),
    key: forge.pki.privateKeyToPem(key),
  }
}

/** An identity in the form in which most banks hand it out, as base64. */
export function toPfx({ certificate, key }: Identity, passphrase: string): string {
  const asn1 = forge.pkcs12.toPkcs12Asn1(
    forge.pki.privateKeyFromPem(key),
    [forge.pki.certificateFromPem(certificate)],
    passphrase,
    { algorithm: 'aes256' },
  )
  return forge.util.encode64(forge.asn1.toDer(asn1).getBytes())
}

/** One value of DER. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const value = Buffer.concat(parts)
  const { length } = value
  const long = length > 0xff ? [0x82, length >> 8, length & 0xff] : [0x81, length]
  return Buffer.concat([Buffer.from([tag, ...(length > 0x7f ? long : [length])]), value])
}

/** A positive number, in as few bytes as it needs. */
function integer(value: number): Buffer {
  const hex = value.toString(16)
  return der(INTEGER, Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex'))
}

const [SEQUENCE, OCTETS, INTEGER] = [0x30, 0x04, 0x02]
const oid = (hex: string) => Buffer.from(hex, 'hex')
const PBES2 = oid('06092a864886f70d01050d')
const PBKDF2 = oid('06092a864886f70d01050c')
const HMAC_SHA256 = oid('06082a864886f70d02090500')
const AES_256_CBC = oid('060960864801650304012a')

/** A key as PEM whose passphrase takes so many rounds to check, or the number that it names. */
export function toSlowKey(
  { key }: Identity,
  passphrase: string,
  rounds: number,
  named = rounds,
): string {
  const [salt, iv] = [randomBytes(16), randomBytes(16)]
  const cipher = createCipheriv(
    'aes-256-cbc',
    pbkdf2Sync(passphrase, salt, rounds, 32, 'sha256'),
    iv,
  )
  const plain = createPrivateKey(key).export({ type: 'pkcs8', format: 'der' })
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
  const derivation = der(
    SEQUENCE,
    PBKDF2,
    der(SEQUENCE, der(OCTETS, salt), integer(named), der(SEQUENCE, HMAC_SHA256)),
  )
  const encryption = der(SEQUENCE, AES_256_CBC, der(OCTETS, iv))
  const scheme = der(SEQUENCE, PBES2, der(SEQUENCE, derivation, encryption))
  const text = der(SEQUENCE, scheme, der(OCTETS, sealed)).toString('base64')
  const lines = text.match(/.{1,64}/g)!.join('\n')
  return `-----BEGIN ENCRYPTED PRIVATE KEY-----\n${lines}\n-----END ENCRYPTED PRIVATE KEY-----\n`
}
