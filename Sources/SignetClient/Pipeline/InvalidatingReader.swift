import HTTPTypes
import SignetCache
import SignetTransport

/// Removes the stored responses that the response to a call makes invalid, such as that to a PUT,
/// whether or not the call itself uses the cache (RFC 9111, section 4.4).
struct InvalidatingReader: ResponseReader {
    let reader: any ResponseReader
    /// The request as the call made it, before redirects.
    let request: HTTPRequest
    let store: any CacheStore
    let rules: PrivateCache

    var limit: Int { reader.limit }
    var keepsBody: Bool { reader.keepsBody }
    var hasHandedOut: Bool { reader.hasHandedOut }
    var preliminary: MemoryReader? { reader.preliminary ?? reader as? MemoryReader }
    var usesCache: Bool { reader.usesCache }

    func prepare(
        _ request: HTTPRequest, isRedirected: Bool
    ) async throws(ClientError) -> HTTPRequest {
        try await reader.prepare(request, isRedirected: isRedirected)
    }

    func read(
        _ response: EngineResponse, answering method: HTTPRequest.Method
    ) async throws(ClientError) -> ResponseReading {
        if !response.isMadeUp {
            for change in rules.invalidations(by: response.response, to: request) {
                await store.change(change)
            }
        }
        return try await reader.read(response, answering: method)
    }
}
