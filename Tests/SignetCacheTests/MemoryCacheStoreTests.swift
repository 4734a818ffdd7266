import HTTPTypes
import SignetCache
import TestSupport
import Testing

@Suite struct MemoryCacheStoreTests {
    func entry(_ path: String, scope: String = "", size: Int = 100, variant: String? = nil)
        -> MemoryCacheStore.Entry
    {
        let request = HTTPRequest(
            method: .get, scheme: "https", authority: "api.example.com", path: path)
        let id = StoredResponse.ID(
            key: CacheKey(request, scope: scope)!,
            selected: variant.map { [SelectedField(name: "foo", value: $0)] } ?? [])
        return MemoryCacheStore.Entry(
            StoredResponse(
                id: id, response: HTTPResponse(status: .ok), requestTime: 0, responseTime: 0,
                length: Int64(size)),
            content: [UInt8](repeating: 7, count: size))
    }

    @Test func removesTheLeastRecentlyUsed() {
        let one = MemoryCacheStore(byteLimit: 1 << 20)
        one.insert(entry("/0"))
        let store = MemoryCacheStore(byteLimit: one.byteCount * 10)
        for number in 0..<10 { store.insert(entry("/\(number)")) }
        #expect(store.count == 10)
        #expect(store.entries(for: entry("/0").response.id.key).count == 1)
        store.insert(entry("/x"))
        store.insert(entry("/y"))
        #expect(store.count == 10)
        for path in ["/0", "/3", "/x", "/y"] {
            #expect(store.entries(for: entry(path).response.id.key).count == 1)
        }
        for path in ["/1", "/2"] {
            #expect(store.entries(for: entry(path).response.id.key).isEmpty)
        }
    }

    @Test func keepsItsLimitUnderRandomChanges() {
        let store = MemoryCacheStore(byteLimit: 100_000)
        var random = SplitMix(seed: 36)
        for _ in 0..<20_000 {
            let path = "/\(UInt8.random(in: 0..<40, using: &random))"
            let scope = Bool.random(using: &random) ? "one" : "two"
            let variant = Bool.random(using: &random) ? "a" : nil
            let size = Int.random(in: 0..<16_000, using: &random)
            let one = entry(path, scope: scope, size: size, variant: variant)
            switch UInt8.random(in: 0..<8, using: &random) {
            case 0: store.apply(.remove(one.response.id))
            case 1: store.apply(.invalidate(url: one.response.id.key.url))
            case 2: _ = store.entries(for: one.response.id.key)
            default: store.insert(one)
            }
            guard store.byteCount <= 100_000 else {
                Issue.record("\(store.byteCount) bytes")
                return
            }
        }
        #expect(store.count > 0)
        store.apply(.clear(origin: entry("/").response.id.key.origin))
        #expect(store.count == 0)
        #expect(store.byteCount == 0)
    }

    @Test func declinesALargeResponse() {
        let store = MemoryCacheStore(byteLimit: 80_000)
        #expect(store.insert(entry("/a", size: 9000)))
        #expect(!store.insert(entry("/a", size: 10_000)))
        // The old one is gone: the new one replaced it.
        #expect(store.count == 0)
    }

    @Test func keepsFewVariants() {
        let store = MemoryCacheStore(byteLimit: 1 << 20)
        for number in 0..<100 { store.insert(entry("/a", variant: "\(number)")) }
        let kept = store.entries(for: entry("/a").response.id.key)
        #expect(kept.count == MemoryCacheStore.mostVariants)
        #expect(kept.last?.response.id.selected.first?.value == "99")
    }

    @Test func keepsScopesApart() {
        let store = MemoryCacheStore(byteLimit: 1 << 20)
        store.insert(entry("/a", scope: "one"))
        #expect(store.entries(for: entry("/a", scope: "two").response.id.key).isEmpty)
        store.apply(.invalidate(url: entry("/a").response.id.key.url))
        #expect(store.count == 0)
    }

    @Test func joinsOnlyWhatFits() {
        let store = MemoryCacheStore(byteLimit: 1 << 20)
        let one = entry("/a", size: 4)
        let whole = entry("/a", size: 10).response
        store.insert(one)
        let id = one.response.id
        #expect(!store.apply(.join(one.response, whole, receivedIsFirst: false), received: [1]))
        #expect(
            !store.apply(
                .join(one.response, whole, receivedIsFirst: false), received: [1, 2, 3, 4, 5, 6],
                isWhole: false))
        #expect(store.entries(for: id.key).first?.content.count == 4)
        #expect(
            store.apply(
                .join(one.response, whole, receivedIsFirst: true), received: [1, 2, 3, 4, 5, 6]))
        #expect(store.entries(for: id.key).first?.content == [1, 2, 3, 4, 5, 6, 7, 7, 7, 7])
    }

    @Test func storesNothingOfAnotherLength() {
        let store = MemoryCacheStore(byteLimit: 1 << 20)
        let one = entry("/a")
        store.insert(one)
        var response = one.response.response
        response.headerFields[.contentLength] = "5"
        let new = StoredResponse(
            id: one.response.id, response: response, requestTime: 0, responseTime: 0, length: 0)
        #expect(!store.apply(.store(new), received: [1, 2, 3, 4]))
        #expect(store.count == 0)
        #expect(store.apply(.store(new), received: [1, 2, 3, 4, 5]))
        #expect(!store.apply(.copy(entry("/b").response, new)))
        #expect(!store.apply(.update(entry("/b").response, new)))
    }
}

@Suite struct CacheKeyTests {
    func key(_ url: (scheme: String?, authority: String?, path: String?)) -> CacheKey? {
        CacheKey(
            HTTPRequest(
                method: .get, scheme: url.scheme, authority: url.authority, path: url.path))
    }

    @Test(
        arguments: [
            ("https", "API.example.com", "/a"), ("HTTPS", "api.example.com:443", "/a"),
            (nil, "api.example.com.", "/a"), ("https", "api.example.com", "/a#fragment"),
        ] as [(String?, String?, String?)])
    func findsTheSameURL(_ scheme: String?, _ authority: String?, _ path: String?) {
        #expect(key((scheme, authority, path))?.url == "https://api.example.com:443/a")
    }

    @Test(
        arguments: [
            ("http", "api.example.com", "/a"), ("https", "api.example.com:8443", "/a"),
            ("https", "api.example.com", "/A"), ("https", "api.example.com", "/a?"),
            ("https", "api.example.com", "/%61"), ("https", "b.example.com", "/a"),
        ] as [(String?, String?, String?)])
    func findsAnotherURL(_ scheme: String?, _ authority: String?, _ path: String?) {
        let key = key((scheme, authority, path))
        #expect(key != nil)
        #expect(key?.url != "https://api.example.com:443/a")
    }

    @Test(
        arguments: [
            ("ftp", "api.example.com", "/a"), ("https", nil, "/a"), ("https", "", "/a"),
            ("https", "user@api.example.com", "/a"), ("https", "api.example.com:0", "/a"),
            ("https", "api.example.com", "/é"), ("https", "a b", "/a"),
        ] as [(String?, String?, String?)])
    func refusesOthers(_ scheme: String?, _ authority: String?, _ path: String?) {
        #expect(key((scheme, authority, path)) == nil)
    }
}
