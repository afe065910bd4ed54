import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** A device that makes passkeys and signs with them, as browsers let it. */
export type Authenticator = {
  id: string
  /** Answers the page's question for a new passkey. */
  create(options: { challenge: string }): string
  /** Answers the page's question for a passkey. */
  get(options: { challenge: string }): string
}

const sha256 = (data: Buffer | string): Buffer => createHash('sha256').update(data).digest()
const text64 = (data: Buffer): string => data.toString('base64url')

/** The person is there, and the device has checked them. */
const FLAGS = 0x05
const WITH_KEY = 0x40

/** `origin` is the site that the browser shows. */
export function createAuthenticator(
  origin: string,
  rpId = new URL(origin).hostname,
): Authenticator {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const credentialId = randomBytes(16)
  const id = text64(credentialId)
  let counter = 0

  const head = (flags: number): Buffer => {
    const rest = Buffer.alloc(5)
    rest.writeUInt8(flags)
    rest.writeUInt32BE(counter++, 1)
    return Buffer.concat([sha256(rpId), rest])
  }
  const clientData = (type: string, challenge: string): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
  const answer = (response: object): string =>
    JSON.stringify({ id, rawId: id, type: 'public-key', clientExtensionResults: {}, response })

  return {
    id,
    create({ challenge }) {
      const { x, y } = publicKey.export({ format: 'jwk' }) as { x: string; y: string }
      const key = Buffer.concat([
        Buffer.from('a5010203262001215820', 'hex'),
        Buffer.from(x, 'base64url'),
        Buffer.from('225820', 'hex'),
        Buffer.from(y, 'base64url'),
      ])
      const name = Buffer.concat([Buffer.alloc(16), Buffer.from([0, 16]), credentialId])
      const data = Buffer.concat([head(FLAGS | WITH_KEY), name, key])
      const attestation = Buffer.concat([
        Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex'),
        Buffer.from([data.length]),
        data,
      ])
      return answer({
        clientDataJSON: text64(clientData('webauthn.create', challenge)),
        attestationObject: text64(attestation),
        transports: ['internal'],
      })
    },
    get({ challenge }) {
      const [data, client] = [head(FLAGS), clientData('webauthn.get', challenge)]
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey)
      return answer({
        authenticatorData: text64(data),
        clientDataJSON: text64(client),
        signature: text64(signature),
      })
    },
  }
}

/** What a page asks the device, and what its form sends back beside the answer. */
export function questionOf(page: string): { options: { challenge: string }; state: string } {
  const options = /data-options="([^"]+)"/.exec(page)![1]!.replaceAll('&quot;', '"')
  return { options: JSON.parse(options), state: /name="state" value="([^"]+)"/.exec(page)![1]! }
}
