/** What reads the feed now, by workflow and node: the webhook of a trigger calls it. */
const followers = new Map<string, () => void>()

type Place = { getWorkflow(): { id?: string }; getNode(): { id: string } }

/** A copy of a workflow has the same nodes. */
export const placeOf = (place: Place): string => `${place.getWorkflow().id} ${place.getNode().id}`

export const addFollower = (place: Place, wake: () => void): void => {
  followers.set(placeOf(place), wake)
}

/** A new version of a workflow may have taken its place already. */
export const removeFollower = (place: Place, wake: () => void): void => {
  if (followers.get(placeOf(place)) === wake) followers.delete(placeOf(place))
}

/** Without effect in another process: there the feed is read within a minute. */
export const wakeFollower = (place: Place): void => followers.get(placeOf(place))?.()
