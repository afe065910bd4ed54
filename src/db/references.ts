/** Puts tables that refer to others after them. */
export function inOrderOfReference<T extends { name: string; refers: string[] }>(tables: T[]): T[] {
  const sorted: T[] = []
  for (let left = tables; left.length > 0; ) {
    const isFree = (table: T) =>
      left.every(({ name }) => name === table.name || !table.refers.includes(name))
    const free = left.filter(isFree)
    if (free.length === 0) throw new Error('tables refer to each other')
    sorted.push(...free)
    left = left.filter((table) => !free.includes(table))
  }
  return sorted
}
