/**
 * Which request or work something is done for, as spans of a trace. Nothing is traced unless an
 * operator asks for it: then nothing of OpenTelemetry is loaded, and who asks here finds null.
 */

/** What a span says. Never a value of a caller or a payer, a parameter of a statement, a secret. */
export type Facts = Record<string, string | number>

/** The span of a request or of work, for which other things are done. */
export type Cause = {
  readonly traceId: string
  readonly spanId: string
  /** Whether it is kept. Of the others nothing is kept either. */
  readonly isSampled: boolean
  /** Its company, once that is known. */
  companyId?: string
  /** The payments that it reports. */
  payments?: readonly string[]
}

export type Span = Cause & {
  note(facts: Facts): void
  /** `fault`: the code of what went wrong. */
  end(fault?: string): void
}

export type SpanKind = 'server' | 'client' | 'internal'

type Beginning = {
  name: string
  kind: SpanKind
  facts?: Facts
  /** The span that it is a part of. Without one, it begins a trace. */
  cause?: Cause | null
  /** A span of somebody else, who has caused it. */
  link?: Pick<Cause, 'traceId' | 'spanId' | 'isSampled'> | null
}

export type Tracing = {
  begin(beginning: Beginning): Span
  /** What is done now is done for these: several, if requests are answered together. */
  causes(): readonly Cause[]
  within<R>(causes: readonly Cause[], act: () => R): R
}

let tracing: Tracing | null = null

/** Traces from now on. One for each process, because what it sends goes to one collector. */
export function traceWith(own: Tracing | null): void {
  tracing = own
}

export const tracingNow = (): Tracing | null => tracing

const NOBODY: readonly Cause[] = []

/** What is done now is done for these. It is kept for what is done later, together with others. */
export const causesNow = (): readonly Cause[] => (tracing ? tracing.causes() : NOBODY)

/** Does something for these, and for nobody else who has begun it. */
export const doneFor = <R>(causes: readonly Cause[], act: () => R): R =>
  tracing ? tracing.within(causes, act) : act()

/** Does something as a span of its own. All that is done meanwhile is a part of it. */
export function asSpan<R>(
  beginning: Beginning,
  act: (span: Span | null) => Promise<R>,
): Promise<R> {
  if (!tracing) return act(null)
  const span = tracing.begin(beginning)
  return untilEnd([span], () => tracing!.within([span], () => act(span)))
}

/**
 * Does something that takes part in what is done now, such as a statement: a span of each request
 * that waits for it. Outside of all, as when due work is looked for, nothing is kept of it.
 */
export function asPart<R>(
  name: string,
  factsOf: () => Facts,
  act: () => Promise<R>,
  learned?: (result: R) => Facts,
): Promise<R> {
  const causes = causesNow()
  if (!causes.some(({ isSampled }) => isSampled)) return act()
  const facts = factsOf()
  const spans = causes.flatMap((cause) =>
    cause.isSampled ? [tracing!.begin({ name, kind: 'client', facts, cause })] : [],
  )
  return untilEnd(spans, act, learned)
}

async function untilEnd<R>(
  spans: Span[],
  act: () => Promise<R>,
  learned?: (result: R) => Facts,
): Promise<R> {
  let fault: string | undefined
  try {
    const result = await act()
    if (learned) for (const span of spans) span.note(learned(result))
    return result
  } catch (error) {
    fault = faultOf(error)
    throw error
  } finally {
    for (const span of spans) span.end(fault)
  }
}

/** The code or name of an error. Its message may quote a value. */
export function faultOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  const named = [code, name].find((one) => typeof one === 'string' && /^[\w.-]{1,64}$/.test(one))
  return typeof named === 'string' ? named : 'error'
}

/** The request that is answered now reports these payments, which are matched with others. */
export function reportsPayments(endToEndIds: readonly string[]): void {
  const [cause, ...others] = causesNow()
  if (cause && others.length === 0) cause.payments = endToEndIds
}

/**
 * The request or work that has caused an event of a company, to be stored with it. Null if that is
 * not certain: requests of a company may be answered together, and none must be said to be another.
 * If the event is of a payment, it is that of the request that has reported it.
 */
export function causeOf(companyId: string, endToEndId?: string | null): Buffer | null {
  if (!tracing) return null
  const ofCompany = tracing.causes().filter((one) => (one.companyId ?? companyId) === companyId)
  const reports = ({ payments }: Cause) => payments?.includes(endToEndId!)
  const own = ofCompany.length > 1 && endToEndId ? ofCompany.filter(reports) : ofCompany
  const [cause] = own
  if (!cause?.isSampled || own.length > 1) return null
  return Buffer.from(cause.traceId + cause.spanId, 'hex')
}

const STORED = /^([0-9a-f]{32})([0-9a-f]{16})$/

/** A cause that was stored, from its bytes as hexadecimal digits. */
export function storedCause(digits: string): Cause | null {
  const [, traceId, spanId] = STORED.exec(digits) ?? []
  return traceId && spanId ? { traceId, spanId, isSampled: true } : null
}
