import { existsSync, globSync } from 'node:fs'

const PROGRAMS = {
  patroni: '/usr/bin/patroni',
  'etcd-server': '/usr/bin/etcd',
  haproxy: '/usr/sbin/haproxy',
}

/** Where Debian has the programs of PostgreSQL, the newest version. Patroni 3 knows 15. */
export const postgresBin = (): string | undefined =>
  globSync('/usr/lib/postgresql/*/bin/postgres')
    .sort()
    .at(-1)
    ?.replace(/\/postgres$/, '')

/** Debian's packages that the walk needs and this machine does not have. */
export function missingPackages(): string[] {
  const missing = Object.entries(PROGRAMS).flatMap(([name, path]) => (existsSync(path) ? [] : name))
  return postgresBin() === undefined ? [...missing, 'postgresql'] : missing
}
