/** Does something with each of many, a few at a time. The first failure is everybody's. */
export async function forEachLimited<T>(
  max: number,
  all: readonly T[],
  act: (one: T) => Promise<unknown>,
): Promise<void> {
  const rest = all.values()
  const work = async () => {
    for (const one of rest) await act(one)
  }
  await Promise.all(Array.from({ length: Math.min(max, all.length) }, work))
}
