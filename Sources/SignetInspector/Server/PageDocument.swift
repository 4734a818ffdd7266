#if Inspector
import SignetBase
import SignetCrypto
import SignetJSON

/// The page: its parts as a server sends them, and all in one file.
enum PageDocument {
    /// The style.
    static let style = PackageResources.page_css

    /// The scripts, in the order in which they need each other, in one scope.
    static let script: [UInt8] = {
        let parts = [
            PackageResources.base_js, PackageResources.source_js, PackageResources.filter_js,
            PackageResources.calls_js, PackageResources.list_js, PackageResources.explain_js,
            PackageResources.diff_js,
            PackageResources.waterfall_js, PackageResources.detail_js, PackageResources.compare_js,
            PackageResources.copy_js, PackageResources.switches_js, PackageResources.main_js,
        ]
        return Array("\"use strict\";\n(() => {\n".utf8)
            + parts.joined(separator: [ASCII.lineFeed]) + Array("})();\n".utf8)
    }()

    /// The policy of the page from a server: its own files and requests to where it came from.
    static let serverPolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        + "require-trusted-types-for 'script'"

    /// The page from a server.
    ///
    /// - Parameter token: The token of its own requests.
    static func served(token: String) -> [UInt8] {
        document(
            head: Array(
                ("<meta name=\"signet-token\" content=\"\(token)\">\n"
                    + "<link rel=\"stylesheet\" href=\"/page.css\">\n"
                    + "<script src=\"/page.js\" defer></script>").utf8),
            data: [])
    }

    /// The page with its calls in one file, which loads nothing. Its policy names the digests of
    /// its own script and style.
    ///
    /// - Parameters:
    ///   - about: What the page says about the recording.
    ///   - calls: A row and the details of each call.
    static func file(about: JSONObject, calls: [(row: JSONObject, detail: JSONValue)])
        throws(CryptoFailure) -> [UInt8]
    {
        let policy =
            "default-src 'none'; script-src '\(try digest(script))'; "
            + "style-src '\(try digest(style))'; base-uri 'none'; form-action 'none'; "
            + "require-trusted-types-for 'script'"
        let head =
            Array(
                "<meta http-equiv=\"Content-Security-Policy\" content=\"\(policy)\">\n<style>".utf8)
            + style + Array("</style>".utf8)
        var data = Array("<script type=\"application/json\" id=\"about\">".utf8)
        data += safe(JSONValue.object(about).serialized())
        data += Array("</script>\n".utf8)
        for start in stride(from: 0, to: calls.count, by: blockCount) {
            data += Array("<script type=\"application/json\" class=\"calls\">".utf8)
            for (row, detail) in calls[start..<min(start + blockCount, calls.count)] {
                let call: JSONValue = ["row": .object(row), "detail": detail]
                data += safe(call.serialized())
                data.append(ASCII.lineFeed)
            }
            data += Array("</script>\n".utf8)
        }
        data += Array("<script>".utf8) + script + Array("</script>".utf8)
        return document(head: head, data: data)
    }

    /// The calls in one block of data.
    private static let blockCount = 500

    private static func digest(_ text: [UInt8]) throws(CryptoFailure) -> String {
        "sha256-\(Base64.encode(try Digest.of(text), as: .standard))"
    }

    /// JSON inside of an element `script`, which a `<` could end.
    private static func safe(_ json: [UInt8]) -> [UInt8] {
        guard json.contains(UInt8(ascii: "<")) else { return json }
        var safe: [UInt8] = []
        safe.reserveCapacity(json.count + 64)
        for byte in json {
            if byte == UInt8(ascii: "<") { safe += "\\u003c".utf8 } else { safe.append(byte) }
        }
        return safe
    }

    private static func document(head: [UInt8], data: [UInt8]) -> [UInt8] {
        var page: [UInt8] = []
        var rest = PackageResources.index_html[...]
        for (place, text) in [("<!--HEAD-->", head), ("<!--DATA-->", data)] {
            guard let found = rest.firstRange(of: Array(place.utf8)) else { continue }
            page += rest[..<found.lowerBound]
            page += text
            rest = rest[found.upperBound...]
        }
        return page + rest
    }
}
#endif
