/**
 * How many connections may wait to be accepted; the system may allow fewer. With the default of
 * 511, those of an overload are dropped and tried again after 1, 3, 7 and 15 seconds, instead of
 * being refused at once.
 */
export const BACKLOG = 4096
