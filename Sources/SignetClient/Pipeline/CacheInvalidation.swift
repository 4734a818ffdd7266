import HTTPTypes
import SignetCache
import SignetTransport

/// Removes the stored responses that a response makes invalid, such as that to a PUT, whether or
/// not its call uses the cache (RFC 9111, section 4.4).
struct CacheInvalidation: Sendable {
    let store: SystemCacheStore
    let rules: PrivateCache

    func apply(_ response: EngineResponse, to request: HTTPRequest) async {
        guard !response.isMadeUp else { return }
        for change in rules.invalidations(by: response.response, to: request) {
            await store.change(change)
        }
    }
}
