/** Makes the JSON schemas of what the API takes and gives. */
export { default as Type } from 'typebox'
