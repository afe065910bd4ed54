import { type AuditResult, auditCompany } from '../core/audits/commands.ts'
import { listCompanies } from '../core/companies/store.ts'
import { ascending, listOfAll } from '../core/places/across.ts'
import { placeOf } from '../core/places/front.ts'
import { formatReais } from '../lib/money.ts'
import { type Command, columns } from './command.ts'
import { requireCompany } from './records.ts'
import { withApp } from './session.ts'

const audit: Command = {
  name: 'ledger audit',
  summary: 'Compare balances, postings, records and the bank, from the first entry on.',
  example: 'vintem ledger audit --company 019a8c5e-2f60-7d31-9d5c-4b1d2e6f7a80',
  operands: [],
  options: { company: { value: 'COMPANY_ID', help: 'only this company (default all)' } },
  run: ({ options }) =>
    withApp(async (app) => {
      const { company } = options
      const companies = company
        ? [await requireCompany(app.db, company)]
        : await listOfAll(app, listCompanies, {
            companyOf: ({ id }) => id,
            compare: ascending(({ id }) => id),
          })
      const results: AuditResult[] = []
      for (const { id } of companies) {
        results.push(await auditCompany(await placeOf(app, id), id, { whole: true }))
      }
      const failed = results.some(({ faults }) => faults.length > 0)
      return { json: results.map(show), text: table(results) + verdict(results), failed }
    }, options.company),
}

const show = ({ company, proof, faults, bank }: AuditResult) => ({
  companyId: company.id,
  entries: proof.entries,
  balance: proof.balance,
  bank,
  differences: faults,
})

function table(results: AuditResult[]): string {
  if (results.length === 0) return 'No companies.\n'
  const heading = ['COMPANY ID', 'ENTRIES', 'AVAILABLE', 'PENDING', 'HELD', 'UNMATCHED', 'BANK']
  const rows = results.map(({ company, proof, faults, bank }) => [
    company.id,
    String(proof.entries),
    formatReais(proof.balance.available),
    formatReais(proof.balance.pending),
    formatReais(proof.balance.held),
    formatReais(proof.balance.unmatched),
    faults.length > 0 ? `${bank}, DIFFERS` : bank,
  ])
  return columns([heading, ...rows])
}

function verdict(results: AuditResult[]): string {
  const wrong = results.filter(({ faults }) => faults.length > 0)
  const unanswered = results.filter(({ bank }) => bank === 'silent')
  const lines = wrong.flatMap(({ company, faults }) =>
    faults.map((fault) => `${company.id}: ${fault}\n`),
  )
  if (unanswered.length > 0)
    lines.push(`The bank of ${unanswered.length} companies did not answer.\n`)
  if (wrong.length === 0) return `\n${lines.join('')}The books agree.\n`
  return (
    `\n${lines.join('')}\n` +
    `The books of ${wrong.length} companies differ: no payout and no refund of theirs is sent until an audit agrees again.\n`
  )
}

export const ledgerCommands = [audit]
