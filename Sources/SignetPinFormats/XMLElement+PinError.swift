import SignetBase
import SignetPinning

extension XMLElement {
    /// Reads the root element of a document.
    ///
    /// - Throws: `PinError` with code `malformed-input`.
    static func root(of bytes: [UInt8]) throws(PinError) -> XMLElement {
        do throws(XMLError) {
            return try XMLReader.read(bytes)
        } catch {
            throw PinError(.malformedInput, error.message)
        }
    }
}
