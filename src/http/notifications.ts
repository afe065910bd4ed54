import { CHANGES, LISTENER } from '../core/companies/announce.ts'
import { EVENTS_CHANNEL } from '../core/events.ts'
import { type Notifications, openNotifications } from '../db/notifications.ts'
import { describeError, type Log } from '../lib/log.ts'

/** What a server is notified of: changes of companies, and new events. */
export const openServerNotifications = (databaseUrl: string, log: Log): Notifications =>
  openNotifications(databaseUrl, LISTENER, [CHANGES, EVENTS_CHANNEL], (error) =>
    log.warn(describeError(error), 'lost the connection that receives notifications'),
  )
