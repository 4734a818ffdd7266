import SignetBase
import SignetJSON
import SignetSystem
import SignetTransport

/// The list of a service's addresses: how it is read, and the file that keeps it.
struct AddressList {
    let service: ServiceName
    let plan: AddressListPlan

    /// A list that was kept.
    struct Kept {
        /// The list, or why it can't be used, such as because it has expired.
        let contents: Result<AddressListContents, ClientError>
        /// In Unix seconds.
        let fetchedAt: Int64
        /// When the newest list was issued that was used; nil if none was signed.
        let issued: Int64?

        /// Whether it was fetched on the day of a time, in UTC.
        func isOfToday(_ now: Int64) -> Bool {
            fetchedAt <= now && fetchedAt / 86_400 == now / 86_400
        }
    }

    /// Reads a document.
    ///
    /// - Parameter origin: The origin of the service.
    /// - Throws: `malformed-response` that says what is wrong.
    func contents(
        of bytes: [UInt8], for origin: WebOrigin?, now: Int64
    ) throws(ClientError) -> AddressListContents {
        guard let verifier = plan.verifier else {
            let list = try AddressListVerifier.object(
                bytes, named: "the document", members: ["addresses"])
            return AddressListContents(addresses: try Self.addresses(in: list))
        }
        let list = try verifier.payload(of: bytes, for: service, now: now)
        guard let origin, let host = list["host"]?.string, sameBytes(host, origin.authority) else {
            throw AddressListVerifier.malformed(
                "it is for another host, expected \(origin?.authority ?? "a service's")")
        }
        return AddressListContents(
            addresses: try Self.addresses(in: list), origin: origin,
            issued: list["issued"]?.number?.int64, expires: list["expires"]?.number?.int64)
    }

    private static func addresses(
        in list: JSONObject
    ) throws(ClientError) -> [ServiceAddress] {
        guard let texts = list["addresses"]?.array?.map(\.string),
            !texts.isEmpty, !texts.contains(nil)
        else {
            throw AddressListVerifier.malformed(
                "\"addresses\" must be an array of texts with one or more")
        }
        do throws(ClientError) {
            return try ServiceAddress.list(texts.compactMap { $0 })
        } catch {
            throw AddressListVerifier.malformed(error.message)
        }
    }

    /// Reads the file; nil if it doesn't exist.
    ///
    /// - Throws: `unreadable-file`; `malformed-response` for a file of another kind or of another
    ///   URL.
    func kept(for origin: WebOrigin?, now: Int64) throws(ClientError) -> Kept? {
        let bytes: [UInt8]
        do throws(FileFailure) {
            bytes = try PrivateFile.read(
                plan.file, limit: 4 * AddressListVerifier.maximumByteCount, requirePrivate: false)
        } catch {
            if error.kind == .notFound { return nil }
            throw ClientError(.unreadableFile, error.description)
        }
        guard let object = (try? JSONValue(parsing: bytes, maximumDepth: 8))?.object,
            let fetchedAt = object["fetchedAt"]?.number?.int64, let url = object["url"]?.string,
            let document = object["document"]?.string
        else { throw AddressListVerifier.malformed("the kept file isn't one of this program") }
        guard sameBytes(url, plan.url) else {
            throw AddressListVerifier.malformed("the kept file has the list of another URL")
        }
        let contents = Result { () throws(ClientError) in
            try self.contents(of: Array(document.utf8), for: origin, now: now)
        }
        return Kept(
            contents: contents, fetchedAt: fetchedAt, issued: object["issued"]?.number?.int64)
    }

    /// Keeps a document for further starts.
    func keep(
        _ document: [UInt8], fetchedAt: Int64, issued: Int64?
    ) throws(FileFailure) {
        var object: JSONObject = [
            "url": .string(plan.url), "fetchedAt": .number(JSONNumber(fetchedAt)),
            "document": .string(String(decoding: document, as: UTF8.self)),
        ]
        if let issued { object["issued"] = .number(JSONNumber(issued)) }
        try PrivateFile.writeAtomically(JSONValue.object(object).serialized(), to: plan.file)
    }
}
