import { setMaxListeners } from 'node:events'
// What the service uses and Node 20 lacks. Node 22 has all of it and does not load this file.
import 'core-js/actual/iterator'
import 'core-js/actual/map/group-by'
import 'core-js/actual/object/group-by'
import 'core-js/actual/promise/with-resolvers'
import 'core-js/actual/set/intersection'
import 'core-js/actual/url/parse'

// A worker has a listener of one AbortSignal for each task; Node 22 does not warn of many.
setMaxListeners(0)
