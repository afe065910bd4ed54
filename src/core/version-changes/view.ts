import Type, { type Static } from 'typebox'
import type { Change } from '../../versions/changes.ts'
import { VERSION_NAMES } from '../../versions/history.ts'
import { orNull, Timestamp } from '../fields.ts'
import type { FieldChange, UsedChange } from './rules.ts'

const VersionName = Type.Unsafe<string>({ type: 'string', enum: VERSION_NAMES })
const Value = (description: string) =>
  Type.Unsafe<string | number | boolean | null>({
    type: ['string', 'number', 'boolean', 'null'],
    description,
  })
const Body = (description: string) => Type.String({ description })

const ChangeView = Type.Object({
  name: Type.String({ description: 'A short name that stays the same' }),
  description: Type.String({ description: 'What is different, in a sentence' }),
})

const FieldView = Type.Object({
  formerPath: orNull(Type.String({ description: 'Where it is in `from`; $ is the whole body' })),
  path: orNull(Type.String({ description: 'Where it is in `to`; $ is the whole body' })),
  before: Value('Its value in `from`; null if it only moves, or is new'),
  after: Value('Its value in `to`; null if it only moves, or is gone'),
  description: Type.String({ description: 'Why it differs, in a sentence' }),
})

const AnswerView = Type.Object(
  {
    before: Body('The body in `from`, as it is sent'),
    after: Body('The body in `to`, as it is sent'),
    fields: Type.Array(FieldView, { description: 'The fields that differ' }),
  },
  { description: 'A recent record of the company; texts of clients and payers are masked' },
)

const UsedOperation = Type.Object({
  operationId: Type.String(),
  method: Type.String(),
  path: Type.String(),
  lastUsedAt: Timestamp,
  changes: Type.Array(ChangeView, { description: 'Empty: its answers stay the same' }),
  answer: Type.Optional(AnswerView),
  missing: Type.Optional(Type.String({ description: 'Why no record is shown' })),
  error: Type.Object({
    code: Type.String({ description: 'An error that this operation can answer with' }),
    before: Body('Its body in `from`'),
    after: Body('Its body in `to`'),
  }),
})

export const VersionQuery = Type.Object({
  from: Type.Optional({
    ...VersionName,
    description: 'By default the version that the company is pinned to',
  }),
  to: Type.Optional({ ...VersionName, description: 'By default the newest version' }),
})

export const VersionDiff = Type.Object({
  from: VersionName,
  to: VersionName,
  since: Type.String({ format: 'date-time', description: 'Operations used from then on count' }),
  operations: Type.Array(UsedOperation, { description: 'By name, those that were used' }),
})

const showChange = ({ name, summary }: Change) => ({ name, description: summary.en })

const showField = ({ formerPath, path, before, after, change }: FieldChange) => ({
  formerPath,
  path,
  before,
  after,
  description: change?.summary.en ?? '',
})

/** What a version change means for an operation, as the API and the command line show it. */
export const showUsed = (used: UsedChange): Static<typeof UsedOperation> => ({
  operationId: used.operationId,
  method: used.method,
  path: used.path,
  lastUsedAt: used.lastUsedAt.toISOString(),
  changes: used.changes.map(showChange),
  ...(used.answer && {
    answer: {
      before: used.answer.before,
      after: used.answer.after,
      fields: used.answer.fields.map(showField),
    },
  }),
  ...(used.missing && { missing: used.missing }),
  error: used.error,
})
