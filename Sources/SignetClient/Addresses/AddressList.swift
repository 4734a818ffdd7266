import SignetBase
import SignetJSON
import SignetSystem

/// The list of a service's addresses: how it is read, and the file that keeps it.
struct AddressList {
    let service: ServiceName
    let plan: AddressListPlan

    /// A list that was kept.
    struct Kept {
        let addresses: [ServiceAddress]
        /// In Unix seconds.
        let fetchedAt: Int64

        /// Whether it was fetched on the day of a time, in UTC.
        func isOfToday(_ now: Int64) -> Bool {
            fetchedAt <= now && fetchedAt / 86_400 == now / 86_400
        }
    }

    /// Reads a document.
    ///
    /// - Throws: `malformed-response` that says what is wrong.
    func addresses(in bytes: [UInt8], now: Int64) throws(ClientError) -> [ServiceAddress] {
        let list =
            if let verifier = plan.verifier {
                try verifier.payload(of: bytes, for: service, now: now)
            } else {
                try AddressListVerifier.object(
                    bytes, named: "the document", members: ["addresses"])
            }
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
    /// - Throws: `unreadable-file`, or why its list can't be used, such as because it has expired.
    func kept(now: Int64) throws(ClientError) -> Kept? {
        let bytes: [UInt8]
        do throws(FileFailure) {
            bytes = try PrivateFile.read(
                plan.file, limit: 4 * AddressListVerifier.maximumByteCount, requirePrivate: false)
        } catch {
            if error.kind == .notFound { return nil }
            throw ClientError(.unreadableFile, error.description)
        }
        guard let object = (try? JSONValue(parsing: bytes, maximumDepth: 8))?.object,
            let fetchedAt = object["fetchedAt"]?.number?.int64,
            let document = object["document"]?.string
        else { throw AddressListVerifier.malformed("the kept file isn't one of this program") }
        return Kept(
            addresses: try addresses(in: Array(document.utf8), now: now), fetchedAt: fetchedAt)
    }

    /// Keeps a document for further starts.
    func keep(_ document: [UInt8], fetchedAt: Int64) throws(FileFailure) {
        let object: JSONObject = [
            "fetchedAt": .number(JSONNumber(fetchedAt)),
            "document": .string(String(decoding: document, as: UTF8.self)),
        ]
        try PrivateFile.writeAtomically(JSONValue.object(object).serialized(), to: plan.file)
    }
}
