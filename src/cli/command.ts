import { parseArgs } from 'node:util'
import { nearest } from '../lib/nearest.ts'

/** An option. If `value` names its value, it takes one. Otherwise it is a switch. */
export type Option = {
  value?: string
  required?: true
  /** It can be given several times. */
  many?: true
  /** The values that it can have, if there are few. */
  choices?: readonly string[]
  help: string
}

export type Command = {
  name: string
  summary: string
  /** A whole command, as somebody types it. */
  example: string
  operands: string[]
  /** The operands may be left out. The command checks them by itself. */
  mayOmitOperands?: true
  /** The values that an operand can have, if there are few. */
  choices?: Record<string, readonly string[]>
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
  /** The values of options that can be given several times. */
  lists: Record<string, string[] | undefined>
  switches: Set<string>
}

/** The same answer for programs and for people. One of them is printed. */
export type Answer = { json: unknown; text: string; failed?: boolean }

/** The command was typed wrongly. Its usage is shown after the message. */
export class UsageFault extends Error {}

/** The command cannot be carried out, for a reason that the operator can fix. */
export class Refusal extends Error {}

/** A client cannot ask its server, or what was given to it is wrong. */
export class ClientFault extends Error {}

const JSON_OPTION = { json: { help: 'print JSON only' } } satisfies Record<string, Option>

export function parse(command: Command, argv: string[]): Args {
  const { options, operands, choices = {}, mayOmitOperands = false } = command
  const known: Command['options'] = { ...options, ...JSON_OPTION }
  const { values, positionals } = split(argv, known)
  const given = Object.entries(values).map(([name, value]) => [name, [value].flat()] as const)
  const absent = Object.keys(options).filter((name) => options[name]!.required && !(name in values))
  const missing = [
    ...absent.map((name) => `--${name}`),
    ...(mayOmitOperands ? [] : operands.slice(positionals.length).map((name) => `<${name}>`)),
  ]
  const texts = given.map(([name, all]) => [name, all.filter(isText).map(trimmed)] as const)
  const empty = texts.find(([, all]) => all.includes(''))
  const unexpected = positionals.slice(operands.length)
  if (missing.length > 0) throw new UsageFault(`Missing: ${missing.join(', ')}.`)
  if (unexpected.length > 0) throw new UsageFault(`Not understood: ${unexpected.join(' ')}.`)
  const blank = positionals.findIndex((text) => /^\.{0,2}$/.test(text.trim()))
  // An address with such a part would be that of something else.
  if (blank >= 0) throw new UsageFault(`<${operands[blank]}> must not be empty or only dots.`)
  if (empty) throw new UsageFault(`--${empty[0]} needs a value.`)
  for (const [name, all] of texts) requireChoice(`--${name}`, all, known[name]!.choices)
  for (const [i, name] of operands.entries())
    requireChoice(`<${name}>`, [positionals[i]!], choices[name])
  const ofMany = (name: string) => known[name]!.many === true
  return {
    operands: positionals,
    options: Object.fromEntries(
      texts.flatMap(([name, [text]]) =>
        text === undefined || ofMany(name) ? [] : [[name, text] as const],
      ),
    ),
    lists: Object.fromEntries(texts.filter(([name]) => ofMany(name)).map(([n, all]) => [n, all])),
    switches: new Set(given.flatMap(([name, all]) => (all.includes(true) ? [name] : []))),
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'
const trimmed = (text: string): string => text.trim()

function requireChoice(what: string, texts: string[], choices: readonly string[] | undefined) {
  const wrong = choices && texts.find((text) => !choices.includes(text))
  if (wrong !== undefined)
    throw new UsageFault(`${what} must be one of ${choices!.join(', ')}, and not ${wrong}.`)
}

function split(args: string[], options: Record<string, Option>) {
  const types = Object.entries(options).map(
    ([name, { value, many = false }]) =>
      [name, { type: value ? 'string' : 'boolean', multiple: many }] as const,
  )
  try {
    return parseArgs({ args, options: Object.fromEntries(types), allowPositionals: true })
  } catch (error) {
    // Only the first sentence is about the fault; the rest explains the parser.
    const [fault = ''] = (error as Error).message.split(/\.\s|\n/)
    const [, typed = ''] = /^Unknown option '--([^']+)'/.exec(fault) ?? []
    const meant = nearest(typed, Object.keys(options))
    throw new UsageFault(`${fault}.${meant ? ` Did you mean --${meant}?` : ''}`)
  }
}

export function usageOf({ name, operands, options }: Command): string {
  const required = Object.entries(options).flatMap(([option, { value, required }]) =>
    required ? [`--${option} ${value}`] : [],
  )
  const words = ['vintem', name, ...required, ...operands.map((operand) => `<${operand}>`)]
  return `Usage: ${words.join(' ')} [options]\n`
}

/** The options of a command, and those that every command has. */
export const allOptions = ({ options }: Command): [name: string, option: Option][] =>
  Object.entries({ ...options, ...JSON_OPTION })

export function helpOf(command: Command): string {
  const rows = allOptions(command).map(([name, { value, many, help }]) => [
    `--${name}${value ? ` ${value}` : ''}`,
    many ? `${help}; can be given several times` : help,
  ])
  const options = `Options:\n${columns(rows, '  ')}`
  return `${command.summary}\n\n${usageOf(command)}\n${options}\nExample:\n  ${command.example}\n`
}

/** Commands that belong together, under a heading. */
export type Section = { heading: string; commands: Command[] }

export function overviewOf(sections: Section[], elsewhere?: string): string {
  const width = Math.max(...sections.flatMap(({ commands }) => commands.map((c) => c.name.length)))
  const listed = sections
    .filter(({ commands }) => commands.length > 0)
    .map(({ heading, commands }) => {
      const rows = commands.map(({ name, summary }) => [name.padEnd(width), summary])
      return `${heading}\n${columns(rows, '  ')}\n`
    })
  return (
    `Usage: vintem <command> [options]\n\n${listed.join('')}` +
    'vintem help <command> shows the options of a command and an example, vintem --version the version.\n' +
    'Configuration is read from the environment and from .env, as the server reads it.\n' +
    (elsewhere ? `${elsewhere}\n` : '')
  )
}

export function findCommand(commands: Command[], words: string[]): Command | undefined {
  return commands.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '))
}

/** Formats rows in columns, without trailing spaces. */
export function columns(rows: string[][], indent = ''): string {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]!.length)))
  const line = (row: string[]) => row.map((cell, i) => cell.padEnd(widths[i]!)).join('  ')
  return rows.map((row) => `${`${indent}${line(row)}`.trimEnd()}\n`).join('')
}
