import { completionOf } from '../completion.ts'
import { runProgram } from '../program.ts'
import { CLIENT_COMMANDS } from './commands.ts'

const quick = [...CLIENT_COMMANDS, completionOf(loadSections)]

async function loadSections() {
  return [{ heading: 'Commands, which ask a server:', commands: quick }]
}

/** The package `@vintem/cli`: what an integrator needs, and nothing that opens a database. */
await runProgram({
  quick,
  loadSections,
  elsewhere: 'The service and the commands of its operator are in the npm package vintem.',
})
