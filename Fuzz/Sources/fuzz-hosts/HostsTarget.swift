import FuzzSupport
import Glibc
import SignetPinning
import SignetTransport

@testable import SignetBase

/// A host is refused with a message, or its normal form is the same again in every spelling. What the system
/// takes for an address is that address.

/// Called by libFuzzer once, before it reads the corpus.
@_cdecl("LLVMFuzzerInitialize")
public func begin(_ count: OpaquePointer?, _ arguments: OpaquePointer?) -> CInt {
    Seeds.write(
        Seeds.texts([
            "example.com", "EXAMPLE.com.", "a_b.example", "127.1", "0x7f.1", "0177.1", "2130706433",
            "[::ffff:127.0.0.1]", "[2001:db8::1]", "2001:db8::1", "1.2.3.4:443", "[::1]:8443",
            "xn--mnchen-3ya.de", "m\u{fc}nchen.de", "\u{4f8b}\u{3048}.jp", "a\u{3002}b",
            "%65xample.com",
            "\u{ff45}xample.com", "*.example.com", "**.example.com", "a..b", "user@host", "h:65535",
            "10.0.0.0/8,fd00::/8,.example.com:80",
        ]))
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe input(data, count)
    let text = text(input)
    pattern(text)
    authority(text)
    let exceptions = ProxyExceptions(parsing: text)
    guard let host = host(text) else { return 0 }
    _ = exceptions.contains(host, port: 443)
    guard ProxyExceptions(parsing: host.text).contains(host, port: 443) else {
        broken("a list of one host does not hold it: \(host)")
    }
    _ = PublicSuffixes.builtIn.contains(host)
    return 0
}

private func host(_ text: String) -> HostName? {
    let known = systemAddress(text)
    let host: HostName
    do throws(HostError) {
        host = try HostName.canonical(text)
    } catch {
        checkMessage(error.message, of: "a host")
        if known != nil { broken("the system takes the host for an address, and it is refused") }
        return nil
    }
    if let known, host.addressBytes != known {
        broken("the system takes the host for another address: \(known), found \(host)")
    }
    for spelling in [host.text, host.uriText, host.text.uppercased()]
    where (try? HostName.canonical(spelling)) != host {
        broken("the normal form is not its own: \(spelling)")
    }
    guard host.text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"@/\\#?%[]".utf8.contains($0) })
    else { broken("a character that no host holds: \(host.text.debugDescription)") }
    switch host.kind {
    case .name:
        let labels = host.text.split(separator: ".", omittingEmptySubsequences: false)
        let isShort = labels.allSatisfy { (1...63).contains($0.utf8.count) }
        guard isShort, host.text.utf8.count <= 253, host.addressBytes == nil else {
            broken("a name of wrong lengths: \(host)")
        }
        if systemAddress(host.text) != nil { broken("the system takes a name for an address") }
    case .ipv4: if host.addressBytes?.count != 4 { broken("an IPv4 address without 4 bytes") }
    case .ipv6: if host.addressBytes?.count != 16 { broken("an IPv6 address without 16 bytes") }
    }
    return host
}

/// The address that the C library's readers take a text for; without zones, and without the words that they
/// take behind an address.
private func systemAddress(_ text: String) -> [UInt8]? {
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
    var four = in_addr()
    if unsafe inet_aton(text, &four) == 1 {
        return unsafe withUnsafeBytes(of: &four) { unsafe Array($0) }
    }
    var six = in6_addr()
    guard unsafe inet_pton(AF_INET6, text, &six) == 1 else { return nil }
    let bytes = unsafe withUnsafeBytes(of: &six) { unsafe Array($0) }
    let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
    return isMapped ? Array(bytes[12...]) : bytes
}

private func pattern(_ text: String) {
    do throws(PinError) {
        let pattern = try PinRule.Pattern(parsing: text)
        guard (try? PinRule.Pattern(parsing: pattern.description)) == pattern else {
            broken("a pattern's normal form is not its own: \(pattern)")
        }
    } catch {
        checkMessage(error.message, of: "a pattern")
    }
}

private func authority(_ text: String) {
    do throws(HostError) {
        let authority = try Authority(parsing: text)
        guard (try? Authority(parsing: authority.description)) == authority else {
            broken("an authority's normal form is not its own: \(authority)")
        }
        guard (1...65535).contains(authority.port(scheme: "https")) else { broken("a wrong port") }
    } catch {
        checkMessage(error.message, of: "an authority")
    }
}
