import type { BankDispute, BankDisputeStatus, ReturnReason } from '../port.ts'
import { accept, notDone } from './answers.ts'
import type { Bank } from './client.ts'
import type { Disputing } from './disputing.ts'
import { readAt } from './moments.ts'
import { readList } from './pages.ts'
import { type Fields, fieldsOf, readAmount, textOf } from './text.ts'

/** Disputes at Efí, which calls them infractions. It takes the text of a defense, and no files. */
export const efi: Disputing = {
  async list(bank, { from, to }) {
    // The bank may list by another moment of an infraction than the one that it was opened at.
    const period = { from: new Date(from.getTime() - DAY_MS), to: new Date(to.getTime() + DAY_MS) }
    const path = '/v2/gn/infracoes'
    const entries = { entries: 'infracoes', id: 'idInfracao' }
    const listed = await readList(bank, { resource: null, path, ...entries, ...period })
    if (listed.kind !== 'accepted') return listed
    const read = listed.value.map((entry) => [entry, readDispute(bank, entry)] as const)
    const unread = read.filter(([, dispute]) => dispute === null)
    const value = read.flatMap(([, dispute]) => dispute ?? [])
    const inPeriod = value.filter(({ openedAt }) => openedAt >= from && openedAt < to)
    if (unread.length === 0) return accept(inPeriod)
    const ids = unread.map(([{ idInfracao }]) => textOf(idInfracao) ?? 'an entry without an id')
    return { kind: 'accepted', value: inPeriod, unread: ids }
  },
  async send(bank, { id, text }) {
    const reply = await bank.ask({
      method: 'POST',
      resource: null,
      path: `/v2/gn/infracoes/${encodeURIComponent(id)}/defesa`,
      // The receiver rejects the claim.
      body: { analise: 'rejeitado', justificativa: text },
    })
    return reply.kind === 'done' ? accept('sent') : notDone(reply)
  },
}

const DAY_MS = 86_400_000

const STATUS = new Map<unknown, BankDisputeStatus>([
  ['ABERTA', 'OPEN'],
  ['EM_DEFESA', 'DEFENDED'],
  ['ACEITA', 'LOST'],
  ['REJEITADA', 'WON'],
  ['CANCELADA_EFI', 'CANCELED'],
])

/** The forms of the ids that can be recorded. */
const ID = /^[\x21-\x7e]{1,64}$/
const PAYMENT_ID = /^E[0-9A-Za-z]{8,63}$/

function readDispute(bank: Bank, entry: Fields): BankDispute | null {
  const { abertura, prazoFinalizacao, finalizacao } = fieldsOf(entry.dadosAnalise)
  const id = textOf(entry.idInfracao)
  const endToEndId = textOf(entry.endToEndId)
  const amount = readAmount(entry.valor)
  const status = STATUS.get(entry.status)
  const openedAt = readAt(bank, abertura ?? entry.criadoEm)
  if (!id || !ID.test(id) || !endToEndId || !PAYMENT_ID.test(endToEndId)) return null
  if (amount === null || amount <= 0 || !status || !openedAt) return null
  return {
    id,
    endToEndId,
    amount,
    reason: reasonOf(entry),
    status,
    openedAt,
    deadline: readAt(bank, prazoFinalizacao),
    decidedAt: status === 'OPEN' || status === 'DEFENDED' ? null : readAt(bank, finalizacao),
  }
}

/** The bank describes the reason in words. What it calls a situation is a kind of fraud. */
function reasonOf({ razao, tipoSituacao }: Fields): ReturnReason {
  const words = (textOf(razao) ?? '').toLowerCase()
  if (words.includes('operacional')) return 'OPERATIONAL_FAILURE'
  return textOf(tipoSituacao) !== null || words.includes('fraude') ? 'FRAUD' : 'OTHER'
}
