import { existsSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, secretFilesOf } from '../config.ts'
import { BACKLOG } from '../lib/backlog.ts'
import type { Finding } from './finding.ts'

const MIB = 1024 * 1024
const LOW_SPACE_MIB = 1024
const NO_SPACE_MIB = 100
/** Requests, deliveries and mails may have about so many connections at once. */
const MIN_FILES = 4096
/** Who may write it decides who can open backups. What is in it is public. */
const BACKUP_SETTINGS = '/etc/vintem/backup.env'

/** Rights of everybody, and of a group. */
const ALL_READ = 0o004
const GROUP_READ = 0o040
const OTHERS_WRITE = 0o022

/** Where a machine lists its users and their groups. */
const ACCOUNTS = { users: '/etc/passwd', groups: '/etc/group', backups: BACKUP_SETTINGS }

/** Files with secrets that others may read, and folders of ours in which they may write. */
export function inspectRights(
  { dataDir, local }: Pick<Config, 'dataDir' | 'local'>,
  secretFiles: string[] = secretFilesOf(),
  accounts = ACCOUNTS,
): Finding {
  // Windows has no such rights, and says that all may read.
  if (process.platform === 'win32') return ['ok', 'Windows has rights of another kind.']
  const own = local ? [join(dataDir, 'secret.key'), join(dataDir, 'sandbox.json')] : []
  const readable = [...secretFiles, ...own].filter((path) => othersRead(path, accounts))
  const writable = [...secretFiles, ...own, dataDir, accounts.backups].filter((path) =>
    grants(path, OTHERS_WRITE),
  )
  const found: string[] = []
  if (readable.length > 0) {
    found.push(
      `Other users of this machine can read ${readable.join(', ')}: chmod 600, or 640 with a group of which the service's user is the only member.`,
    )
  }
  if (writable.length > 0) {
    found.push(`Other users of this machine can change ${writable.join(', ')}: chmod go-w.`)
  }
  return found.length === 0
    ? ['ok', 'Only its user can read the secrets.']
    : ['failed', found.join(' ')]
}

/** A file of root may be read by the group of the service's user, if nobody else is in it. */
function othersRead(path: string, accounts: typeof ACCOUNTS): boolean {
  if (!grants(path, ALL_READ | GROUP_READ)) return false
  return grants(path, ALL_READ) || !isGroupOfOne(statSync(path).gid, accounts)
}

/** Whether one user of the machine is in a group, and no more. */
function isGroupOfOne(gid: number, { users, groups }: typeof ACCOUNTS): boolean {
  const read = (path: string) =>
    existsSync(path)
      ? readFileSync(path, 'utf8')
          .split('\n')
          .map((line) => line.split(':'))
      : []
  const own = read(users).flatMap(([name, , , id]) => (id === String(gid) ? [name] : []))
  const group = read(groups).find(([, , id]) => id === String(gid))
  const added = group?.[3]?.split(',').filter((name) => name !== '') ?? []
  return new Set([...own, ...added]).size === 1
}

const grants = (path: string, rights: number): boolean =>
  existsSync(path) && (statSync(path).mode & rights) !== 0

/** The space of the data directory: a database in local mode, and mails as files. */
export function inspectSpace({ dataDir }: Pick<Config, 'dataDir'>): Finding {
  if (!existsSync(dataDir)) return ['ok', `${dataDir} does not exist yet.`]
  const { bavail, bsize, ffree } = statfsSync(dataDir)
  return judgeSpace(dataDir, Math.floor((bavail * bsize) / MIB), ffree)
}

/** `files`: how many can still be made. Some file systems have no limit, and say 0. */
export function judgeSpace(folder: string, free_mib: number, files: number): Finding {
  const detail = `${folder} has ${free_mib} MiB free.`
  if (free_mib < NO_SPACE_MIB) return ['failed', `${detail} Free some space now.`]
  if (files > 0 && files < 1000)
    return ['failed', `${folder} has room for ${files} files: remove some.`]
  return free_mib < LOW_SPACE_MIB ? ['warning', `${detail} Free some space soon.`] : ['ok', detail]
}

/** How many new connections may wait for a process that is busy. */
export function inspectBacklog(
  { local }: Pick<Config, 'local'>,
  path = '/proc/sys/net/core/somaxconn',
): Finding {
  const most = !local && existsSync(path) ? Number(readFileSync(path, 'utf8')) : BACKLOG
  if (most >= BACKLOG) return ['ok', 'Enough connections may wait.']
  return [
    'warning',
    `Only ${most} new connections may wait, and others are lost: sysctl -w net.core.somaxconn=${BACKLOG}.`,
  ]
}

/** How many files and connections a process may open. Node has raised it as far as it may. */
export function inspectFileLimit(path = '/proc/self/limits'): Finding {
  if (!existsSync(path)) return ['ok', 'The system does not say how many files may be open.']
  const [, most] = /^Max open files\s+(\d+)/m.exec(readFileSync(path, 'utf8')) ?? []
  if (most === undefined || Number(most) >= MIN_FILES) return ['ok', 'Enough files may be open.']
  return [
    'warning',
    `Only ${most} files may be open, and each connection is one: set LimitNOFILE=65536 in the unit, or ulimit -n.`,
  ]
}
