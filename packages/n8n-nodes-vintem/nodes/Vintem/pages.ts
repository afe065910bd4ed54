import type {
  DeclarativeRestApiSettings,
  IExecutePaginationFunctions,
  IN8nHttpFullResponse,
  INodeExecutionData,
} from 'n8n-workflow'

const PAGE = 1000

/** Reads a list to its end. The Link header of a page says where the next one begins. */
export async function readPages(
  this: IExecutePaginationFunctions,
  requestData: DeclarativeRestApiSettings.ResultOptions,
): Promise<INodeExecutionData[]> {
  let after: string | null = null
  const readLink = async (items: INodeExecutionData[], { headers }: IN8nHttpFullResponse) => {
    const [, address] = /<([^>]*)>; *rel="next"/.exec(String(headers.link ?? '')) ?? []
    after = new URL(address ?? '', 'http://localhost').searchParams.get('after')
    return items
  }
  const [first, ...others] = requestData.postReceive
  const postReceive = [{ data: first!.data, actions: [readLink] }, first!, ...others]
  const { options } = requestData
  const all: INodeExecutionData[] = []
  do {
    const qs = { ...options.qs, limit: PAGE, ...(after !== null && { after }) }
    Object.assign(requestData, { postReceive, options: { ...options, qs } })
    all.push(...(await this.makeRoutingRequest(requestData)))
  } while (after !== null)
  return all
}
