import Type, { type Static } from 'typebox'
import { toPublic } from '../../lib/ids.ts'
import { qrDataUrl } from '../../pix/qr.ts'
import { Amount, ExternalId } from '../fields.ts'
import type { StaticCode } from './rules.ts'
import { DataUrl, DevMode } from './view.ts'

export const NewStaticCode = Type.Object({
  amount: Amount(1, 'Cents'),
  externalId: Type.Optional({
    ...ExternalId,
    description: 'Your own name of the code, which each of its sales has as its `externalId`',
  }),
  devMode: DevMode,
})

export const StaticCodeView = Type.Object({
  correlationID: Type.String(),
  brCode: Type.String(),
  qrCodeImage: DataUrl('QR image as PNG data URL'),
  externalId: Type.Optional(Type.String()),
  devMode: Type.Boolean(),
})
export function showStaticCode(code: StaticCode): Static<typeof StaticCodeView> {
  return {
    correlationID: toPublic('qrs', code.id),
    brCode: code.brCode,
    qrCodeImage: qrDataUrl(code.brCode),
    ...(code.externalId === null ? {} : { externalId: code.externalId }),
    devMode: code.devMode,
  }
}
