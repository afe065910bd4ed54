import { UNMATCHED_REASONS } from '../../core/charges/rules.ts'
import { ANY_EVENT_TYPES, type AnyEventType } from '../../core/events.ts'
import { RETURN_REASONS } from '../../provider/port.ts'
import { type Command, UsageFault } from '../command.ts'
import { clientOf, connectionOptions, targetOf } from './connection.ts'

export const triggerCommand: Command = {
  name: 'trigger',
  summary: 'Make an event happen in the sandbox, with play money.',
  example: 'vintem trigger charge.paid --set amount=4990 --set customer.name=Ana',
  operands: ['event-type'],
  mayOmitOperands: true,
  choices: { 'event-type': ANY_EVENT_TYPES },
  options: {
    ...connectionOptions,
    reason: {
      value: 'REASON',
      choices: [...UNMATCHED_REASONS, ...RETURN_REASONS],
      help: 'why a payment.unmatched or payment.returned happens, such as LATE or FRAUD',
    },
    set: {
      value: 'FIELD=VALUE',
      many: true,
      help: 'a field of the requests that are sent, such as amount=1990',
    },
    'move-clock': {
      help: 'let time pass in the company of the key, instead of a sandbox that is made for the event',
    },
    list: { help: 'list the events, and what happens for each' },
  },
  async run(args) {
    // Other commands do not load what only this one needs.
    const { answerOf, listed, stepsOf, trigger } = await import('./trigger-run.ts')
    const type = args.operands[0] as AnyEventType | undefined
    if (args.switches.has('list')) return listed(type)
    if (!type) throw new UsageFault('Missing: <event-type>. "vintem trigger --list" shows them.')
    const { reason } = args.options
    stepsOf(type, reason)
    const target = targetOf(args)
    const withKey = args.switches.has('move-clock')
      ? undefined
      : (key: string) => clientOf({ ...target, key })
    const wanted = { reason, set: args.lists.set, withKey }
    return answerOf(type, await trigger(clientOf(target), type, wanted))
  },
}
