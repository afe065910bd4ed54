import { nearest } from '../lib/nearest.ts'
import { VERSION } from '../lib/version.ts'
import { isClientFault, textOfClientFault } from './client/faults.ts'
import { type Command, helpOf, overviewOf, parse, UsageFault, usageOf } from './command.ts'
import { findCommand, loadSections, QUICK_COMMANDS } from './commands.ts'
import { isBug, textOfError } from './faults.ts'

const OK = 0
const FAILED = 1
const MISTYPED = 2

const isHelp = (word: string): boolean => word === '--help' || word === '-h'

/** The help for one command, for the commands of one noun, or for all. */
async function helpFor(words: string[]): Promise<string> {
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
  return overviewOf(ofNoun.some(({ commands }) => commands.length > 0) ? ofNoun : sections)
}

async function run(argv: string[]): Promise<number> {
  if (argv[0] === '--version') return printText(`${VERSION}\n`)
  if (argv[0] === 'help') return printText(await helpFor(argv.slice(1)))
  if (argv.some(isHelp)) return printText(await helpFor(argv))
  const command =
    findCommand(QUICK_COMMANDS, argv) ??
    findCommand(
      (await loadSections()).flatMap(({ commands }) => commands),
      argv,
    )
  if (command) return runCommand(command, argv.slice(command.name.split(' ').length))
  process.stderr.write(await unknownOf(argv))
  return MISTYPED
}

/** What there is instead. A page of all commands would hide what is wrong. */
async function unknownOf(argv: string[]): Promise<string> {
  const [noun, second] = argv
  if (noun === undefined) return helpFor([])
  const commands = (await loadSections()).flatMap(({ commands }) => commands)
  const isNoun = commands.some(({ name }) => name.startsWith(`${noun} `))
  const unknown = `Unknown command: ${argv.slice(0, 2).join(' ')}`
  if (isNoun) {
    const missing = second === undefined || second.startsWith('-')
    return `${missing ? `${noun} is followed by another word:` : unknown}\n\n${await helpFor([noun])}`
  }
  const names = commands.map(({ name }) => name)
  const meant = nearest(argv.slice(0, 2).join(' '), names)
  const ofNoun = nearest(
    noun,
    names.map((name) => name.split(' ')[0]!),
  )
  const advice = meant ?? (ofNoun && `help ${ofNoun}`)
  const question = advice ? ` Did you mean "vintem ${advice}"?` : ''
  return `${unknown}.${question} "vintem help" lists all commands.\n`
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

// If a reader such as `head` closes the pipe, that is no error.
process.stdout.on('error', () => {})
// This timer keeps Node running. The sessions of the embedded database do not.
const alive = setInterval(() => {}, 60_000)
process.exitCode = await run(process.argv.slice(2))
clearInterval(alive)
