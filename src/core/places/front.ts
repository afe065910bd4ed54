import type { Soon } from '../../lib/fair-queue.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { App } from '../app.ts'

/**
 * Each company lives in one place, which has an app of its own. The first place is the control
 * database too. What is known of no company yet is done with the app of the first place.
 */
export type Places<A extends App = App> = {
  /** The apps of all places, in the order of PLACES. */
  all: readonly A[]
  /**
   * The app of the place of a company. Null if none has such a company. Those who have shown a key
   * have connections of their own to ask with.
   */
  find(companyId: Uuid, hasKey?: boolean): Soon<A | null>
  /** Called when a company may have changed its place. Null: any of them. */
  forget(companyId: Uuid | null): void
}

/**
 * An app for whoever does not know the company yet, or asks for all of them. It has all places.
 * What is done for a company is done with the app of its place, which knows no others.
 */
export type Front<A extends App = App> = A & { places: Places<A> }

/** With one place nothing has to be looked up. */
export const onePlace = <A extends App>(app: A): Front<A> => ({
  ...app,
  places: { all: [app], find: () => app, forget() {} },
})

/** The apps of all places. */
export const appsOf = <A extends App>(front: Front<A>): readonly A[] =>
  front.places.all.length === 1 ? [front] : front.places.all

/**
 * The app of the place in which a company lives, for somebody of whom nothing but that is known. If
 * there is no such company it is the given one, in which it is not found either.
 */
export async function placeOf<A extends App>(
  front: Front<A>,
  companyId: Uuid | undefined,
): Promise<A> {
  if (front.places.all.length === 1 || companyId === undefined) return front
  const found = await front.places.find(companyId)
  return found ? { ...found, db: found.db.of('') } : front
}
