import Type from 'typebox'
import { CreatedPixCharge, NewPixCharge } from './view.ts'

export const MAX_BATCH = 1000

export const NewBatch = Type.Object({
  charges: Type.Array(NewPixCharge, {
    minItems: 1,
    maxItems: MAX_BATCH,
    description: 'Each as in `POST /charge/pix`',
    'x-each': true,
  }),
})

const { brCodeBase64: _image, ...withoutImage } = CreatedPixCharge.properties

const ItemError = Type.Object({
  code: Type.String({ description: 'Of the error catalogue' }),
  description: Type.String({ description: 'The path of the field in the charge, and the rule' }),
})

export const BatchView = Type.Object({
  accepted: Type.Integer({ description: 'How many of the charges there are now' }),
  refused: Type.Integer({ description: 'How many were refused; the others do not depend on them' }),
  items: Type.Array(
    Type.Object({
      index: Type.Integer({ description: 'Its place in `charges`, from 0' }),
      charge: Type.Optional(
        Type.Object(withoutImage, {
          description: 'As `POST /charge/pix` answers, without the image of its code',
        }),
      ),
      replayed: Type.Optional(
        Type.Boolean({
          description: 'The same externalId and body have created it before, and it is open still',
        }),
      ),
      errors: Type.Optional(Type.Array(ItemError)),
    }),
    { description: 'In the order of `charges`; each has a charge or errors' },
  ),
})
