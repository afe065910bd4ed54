/** What reads the feed now, by workflow and node: the webhook of a trigger calls it. */
const followers = new Map<string, () => void>()

type Place = { getWorkflow(): { id?: string }; getNode(): { id: string } }
const keyOf = (place: Place): string => `${place.getWorkflow().id} ${place.getNode().id}`

export const addFollower = (place: Place, wake: () => void): void => {
  followers.set(keyOf(place), wake)
}

export const removeFollower = (place: Place): void => {
  followers.delete(keyOf(place))
}

/** Without effect in another process: there the feed is read within a minute. */
export const wakeFollower = (place: Place): void => followers.get(keyOf(place))?.()
