/**
 * The payments that a bank's callback names. A callback is a hint: only what the bank confirms when
 * asked counts, so nothing else of it is read. Whatever else stands in it is ignored.
 */
export function namedPayments(body: unknown): string[] {
  const { pix } = (body ?? {}) as { pix?: unknown }
  if (!Array.isArray(pix)) return []
  const ids = pix.flatMap((entry) => {
    const id = (entry as { endToEndId?: unknown } | null)?.endToEndId
    return typeof id === 'string' && /^[A-Za-z0-9]{1,64}$/.test(id) ? [id] : []
  })
  return [...new Set(ids)]
}

/** What a bank of the scheme sends when money has arrived. */
export const callbackBody = (pix: {
  endToEndId: string
  txid: string | null
  amount: number
  receivedAt: Date
}) => ({
  pix: [
    {
      endToEndId: pix.endToEndId,
      ...(pix.txid === null ? {} : { txid: pix.txid }),
      valor: `${Math.floor(pix.amount / 100)}.${String(pix.amount % 100).padStart(2, '0')}`,
      horario: pix.receivedAt.toISOString(),
    },
  ],
})
