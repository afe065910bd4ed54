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
  const unknown = argv.length > 0 ? `Unknown command: ${argv.slice(0, 2).join(' ')}\n\n` : ''
  process.stderr.write(unknown + (await helpFor(argv)))
  return MISTYPED
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
