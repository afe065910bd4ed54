/** Its files are imported for what they do, and have no types. */
declare module 'core-js/*'
