import { parseArgs } from 'node:util'

/** An option. If `value` names its value, it takes one. Otherwise it is a switch. */
export type Option = { value?: string; required?: true; help: string }

export type Command = {
  name: string
  summary: string
  operands: string[]
  options: Record<string, Option>
  /** Returns the answer. If it is too long, the command prints it in parts and returns null. */
  run(args: Args, print: Print): Promise<Answer | null>
}

/** Resolves when the text is written, so that the command waits for a slow reader. */
export type Print = (text: string) => Promise<void>

/** What the operator typed. Required options and operands are checked before. */
export type Args = {
  operands: string[]
  options: Record<string, string | undefined>
  switches: Set<string>
}

/** The same answer for programs and for people. One of them is printed. */
export type Answer = { json: unknown; text: string; failed?: boolean }

/** The command was typed wrongly. Its usage is shown after the message. */
export class UsageFault extends Error {}

/** The command cannot be carried out, for a reason that the operator can fix. */
export class Refusal extends Error {}

const JSON_OPTION = { json: { help: 'print JSON only' } } satisfies Record<string, Option>

export function parse({ options, operands }: Command, argv: string[]): Args {
  const { values, positionals } = split(argv, { ...options, ...JSON_OPTION })
  const given = Object.entries(values)
  const absent = Object.keys(options).filter((name) => options[name]!.required && !(name in values))
  const missing = [
    ...absent.map((name) => `--${name}`),
    ...operands.slice(positionals.length).map((name) => `<${name}>`),
  ]
  const empty = given.filter(([, value]) => typeof value === 'string' && value.trim() === '')
  const unexpected = positionals.slice(operands.length)
  if (missing.length > 0) throw new UsageFault(`Missing: ${missing.join(', ')}.`)
  if (unexpected.length > 0) throw new UsageFault(`Not understood: ${unexpected.join(' ')}.`)
  if (empty.length > 0) throw new UsageFault(`--${empty[0]![0]} needs a value.`)
  return {
    operands: positionals,
    options: Object.fromEntries(
      given.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value.trim()]] : [])),
    ),
    switches: new Set(given.flatMap(([name, value]) => (value === true ? [name] : []))),
  }
}

function split(args: string[], options: Record<string, Option>) {
  const types = Object.entries(options).map(
    ([name, { value }]) => [name, { type: value ? 'string' : 'boolean' }] as const,
  )
  try {
    return parseArgs({ args, options: Object.fromEntries(types), allowPositionals: true })
  } catch (error) {
    // Only the first sentence is about the fault; the rest explains the parser.
    throw new UsageFault(`${(error as Error).message.split(/\.\s|\n/)[0]}.`)
  }
}

export function usageOf({ name, operands, options }: Command): string {
  const required = Object.entries(options).flatMap(([option, { value, required }]) =>
    required ? [`--${option} ${value}`] : [],
  )
  const words = ['vintem', name, ...required, ...operands.map((operand) => `<${operand}>`)]
  return `Usage: ${words.join(' ')} [options]\n`
}

export function helpOf(command: Command): string {
  const rows = Object.entries({ ...command.options, ...JSON_OPTION } as Command['options']).map(
    ([name, { value, help }]) => [`--${name}${value ? ` ${value}` : ''}`, help],
  )
  return `${command.summary}\n\n${usageOf(command)}\nOptions:\n${columns(rows, '  ')}`
}

export function overviewOf(commands: Command[]): string {
  const rows = commands.map(({ name, summary }) => [name, summary])
  return (
    'Usage: vintem <command> [options]\n\n' +
    `Commands:\n${columns(rows, '  ')}\n` +
    'vintem help <command> shows the options of a command, vintem --version the version.\n' +
    'Configuration is read from the environment and from .env, as the server reads it.\n'
  )
}

/** Formats rows in columns, without trailing spaces. */
export function columns(rows: string[][], indent = ''): string {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]!.length)))
  const line = (row: string[]) => row.map((cell, i) => cell.padEnd(widths[i]!)).join('  ')
  return rows.map((row) => `${`${indent}${line(row)}`.trimEnd()}\n`).join('')
}
