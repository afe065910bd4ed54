import { nearest } from '../lib/nearest.ts'
import { VERSION } from '../lib/version.ts'
import { isClientFault, textOfClientFault } from './client/faults.ts'
import {
  type Command,
  findCommand,
  helpOf,
  overviewOf,
  parse,
  type Section,
  UsageFault,
  usageOf,
} from './command.ts'
import { isBug, textOfError } from './faults.ts'

/** What somebody can type. The package `vintem` has all commands, `@vintem/cli` those of a client. */
export type Program = {
  /** The commands that are found before all are loaded. */
  quick: Command[]
  loadSections(): Promise<Section[]>
  /** Where the commands are that it lacks. */
  elsewhere?: string
}

const OK = 0
const FAILED = 1
const MISTYPED = 2

const isHelp = (word: string): boolean => word === '--help' || word === '-h'

/** The help for one command, for the commands of one noun, or for all. */
async function helpFor({ loadSections, elsewhere }: Program, words: string[]): Promise<string> {
  const sections = await loadSections()
  const command = findCommand(
    sections.flatMap(({ commands }) => commands),
    words,
  )
  if (command) return helpOf(command)
  const ofNoun = sections.map(({ heading, commands }) => ({
    heading,
    commands: commands.filter(({ name }) => name.startsWith(`${words[0]} `)),
  }))
  const isNoun = ofNoun.some(({ commands }) => commands.length > 0)
  return overviewOf(isNoun ? ofNoun : sections, isNoun ? undefined : elsewhere)
}

async function run(program: Program, argv: string[]): Promise<number> {
  if (argv[0] === '--version') return printText(`${VERSION}\n`)
  if (argv[0] === 'help') return printText(await helpFor(program, argv.slice(1)))
  if (argv.some(isHelp)) return printText(await helpFor(program, argv))
  const command =
    findCommand(program.quick, argv) ??
    findCommand(
      (await program.loadSections()).flatMap(({ commands }) => commands),
      argv,
    )
  if (command) return runCommand(command, argv.slice(command.name.split(' ').length))
  process.stderr.write(await unknownOf(program, argv))
  return MISTYPED
}

/** What there is instead. A page of all commands would hide what is wrong. */
async function unknownOf(program: Program, argv: string[]): Promise<string> {
  const [noun, second] = argv
  if (noun === undefined) return helpFor(program, [])
  const commands = (await program.loadSections()).flatMap(({ commands }) => commands)
  const isNoun = commands.some(({ name }) => name.startsWith(`${noun} `))
  const unknown = `Unknown command: ${argv.slice(0, 2).join(' ')}`
  if (isNoun) {
    const missing = second === undefined || second.startsWith('-')
    return `${missing ? `${noun} is followed by another word:` : unknown}\n\n${await helpFor(program, [noun])}`
  }
  const names = commands.map(({ name }) => name)
  const meant = nearest(argv.slice(0, 2).join(' '), names)
  const ofNoun = nearest(
    noun,
    names.map((name) => name.split(' ')[0]!),
  )
  const advice = meant ?? (ofNoun && `help ${ofNoun}`)
  const question = advice ? ` Did you mean "vintem ${advice}"?` : ''
  const elsewhere = !advice && program.elsewhere ? `${program.elsewhere}\n` : ''
  return `${unknown}.${question} "vintem help" lists all commands.\n${elsewhere}`
}

async function runCommand(command: Command, argv: string[]): Promise<number> {
  try {
    const args = parse(command, argv)
    const answer = await command.run(args, print)
    if (answer === null) return OK
    const { json, text, failed } = answer
    printText(args.switches.has('json') ? `${JSON.stringify(json)}\n` : text)
    return failed ? FAILED : OK
  } catch (error) {
    if (isPipeClosed(error)) return OK
    return report(command, error)
  }
}

/** Prints what is wrong. Only a bug of ours is shown with its stack. */
function report(command: Command, error: unknown): number {
  if (isClientFault(error)) {
    process.stderr.write(`${textOfClientFault(error)}\n`)
    return MISTYPED
  }
  process.stderr.write(`${isBug(error) ? (error as Error).stack : textOfError(error)}\n`)
  if (!(error instanceof UsageFault)) return FAILED
  process.stderr.write(`\n${usageOf(command)}Run "vintem help ${command.name}" for all options.\n`)
  return MISTYPED
}

function printText(text: string): number {
  process.stdout.write(text)
  return OK
}

function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()))
  })
}

const isPipeClosed = (error: unknown): boolean => (error as { code?: string }).code === 'EPIPE'

/** Carries out what was typed, and leaves the exit code. */
export async function runProgram(program: Program): Promise<void> {
  // If a reader such as `head` closes the pipe, that is no error.
  process.stdout.on('error', () => {})
  // This timer keeps Node running. The sessions of the embedded database do not.
  const alive = setInterval(() => {}, 60_000)
  process.exitCode = await run(program, process.argv.slice(2))
  clearInterval(alive)
}
