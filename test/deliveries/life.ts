/** Names the life of the worker that a delivery comes from. */
export const LIFE_HEADER = 'x-life'
