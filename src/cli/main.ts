import { loadSections, QUICK_COMMANDS } from './commands.ts'
import { runProgram } from './program.ts'

await runProgram({ quick: QUICK_COMMANDS, loadSections })
