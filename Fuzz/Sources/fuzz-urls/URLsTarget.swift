import CSignetLibcurl
import FuzzSupport
import HTTPTypes
import SignetPinning
import SignetTransport

/// A URL or reference is refused without a word of its user info, or means the same when it is read again,
/// and no other host to libcurl.

private let bases: [WebURL] = ["/b/c/d;p?q", "/"].map { path in
    guard
        let url = try? WebURL(
            HTTPRequest(method: .get, scheme: "https", authority: "a.example:8443", path: path))
    else { broken("a base that is no URL") }
    return url
}

/// Called by libFuzzer once, before it reads the corpus.
@_cdecl("LLVMFuzzerInitialize")
public func begin(_ count: OpaquePointer?, _ arguments: OpaquePointer?) -> CInt {
    Seeds.write(
        Seeds.values(in: "Tests/SignetTransportTests/Vectors/location-resolution.json")
            + Seeds.texts([
                "https://example.com/a?b=1", "http://127.1:80/", "https://[::1]:8443/a/../b",
                "https://user:pass@h/", "https://h\\@g/", "https://example.com:443/%2e%2e/a",
                "socks5h://127.0.0.1:9050", "https://xn--mnchen-3ya.de./?#f", "//h/p", "?q",
                "http:g",
            ]))
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe input(data, count)
    let text = text(input)
    for base in bases { resolve(text, base) }
    request(text)
    if !Planted.isHeld(in: input) {
        proxy(text)
        redirect(text)
    }
    return 0
}

private func whole(_ url: WebURL) -> String { url.origin.description + url.target }

private func resolve(_ text: String, _ base: WebURL) {
    do throws(TransportError) {
        let url = try base.resolving(text)
        guard let again = try? base.resolving(whole(url)), again == url else {
            broken("what a reference means is not its own: \(whole(url))")
        }
        guard url.path.hasPrefix("/"),
            whole(url).utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") })
        else { broken("a character that no URL holds: \(whole(url).debugDescription)") }
        let dots = [".", "..", "%2e", "%2e%2e", ".%2e", "%2e."]
        for segment in url.path.split(separator: "/") where dots.contains(segment.lowercased()) {
            broken("a dot segment is left: \(url.path)")
        }
        checkMessage(url.description, of: "a URL")
    } catch {
        checkMessage(error.message, of: "a reference")
    }
}

/// A URL that a program gives: its host is the one that libcurl sees.
private func request(_ text: String) {
    do throws(TransportError) {
        let url = try WebURL(parsing: text)
        let host = url.origin.host
        if let other = curlHost(text), (try? HostName.canonical(other)) != host {
            broken("libcurl sees the host \(other), found \(host)")
        }
        guard let resolved = try? bases[0].resolving(text) else { return }
        if resolved.origin.host != host { broken("a redirect there leads to another host") }
    } catch {
        checkMessage(error.message, of: "a request's URL")
    }
}

/// libcurl's reading of a URL's host; nil where it takes none.
private func curlHost(_ text: String) -> String? {
    guard let handle = unsafe curl_url() else { return nil }
    defer { unsafe curl_url_cleanup(handle) }
    guard unsafe curl_url_set(handle, CURLUPART_URL, text, 0) == CURLUE_OK else { return nil }
    var host: UnsafeMutablePointer<CChar>?
    guard unsafe curl_url_get(handle, CURLUPART_HOST, &host, 0) == CURLUE_OK,
        let host = unsafe host
    else { return nil }
    defer { unsafe curl_free(host) }
    return unsafe String(cString: host)
}

private func proxy(_ text: String) {
    for address in ["http://user:\(Planted.secret)@\(text)", "\(text)\(Planted.secret)@h"] {
        for allowsCredentials in [false, true] {
            do throws(TransportError) {
                let proxy = try Proxy(parsing: address, allowsCredentials: allowsCredentials)
                Planted.check(
                    "\(proxy)\(Mirror(reflecting: proxy).children.map { "\($0)" })", of: "a proxy")
                guard allowsCredentials, let again = try? Proxy(parsing: proxy.url),
                    again.url == proxy.url
                else { broken("a proxy's URL is not its own, or holds a password") }
            } catch {
                Planted.check(error.message, of: "a proxy's URL")
            }
        }
    }
}

private func redirect(_ text: String) {
    let request = HTTPRequest(
        method: .get, scheme: "https", authority: "a.example", path: "/x?\(Planted.secret)")
    for location in [
        text, "https://user:\(Planted.secret)@\(text)", "https://\(Planted.secret)@h/\(text)",
        "/p?\(text)\(Planted.secret)",
    ] {
        guard var chain = try? RedirectChain(request, policy: RedirectPolicy()) else {
            broken("a request cannot be followed")
        }
        // What a field cannot hold does not come so far.
        let field = HTTPField(name: .location, value: location)
        let response = HTTPResponse(status: .found, headerFields: [field.name: field.value])
        do throws(TransportError) {
            let redirect = try chain.follow(response, pins: nil, now: Fixture.now)
            if let redirect { Planted.check("\(redirect.from) \(redirect.to)", of: "a redirect") }
        } catch {
            Planted.check(error.message, of: "a redirect")
        }
    }
}
