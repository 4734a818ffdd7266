extension MessageSigner {
    /// A signature, with the bytes that were signed and the fields that were added.
    public struct Result: Sendable, Hashable {
        /// Exactly the bytes that were signed.
        public var base: [UInt8] { text.bytes }
        /// The fields that were added to the message, in order. A scheme document may also add
        /// query parameters or XML elements, which only the message contains.
        public let addedFields: [SignableMessage.Field]
        private let text: SignedText
        private let origin: Origin

        init(
            text: SignedText, addedFields: [SignableMessage.Field], origin: SchemeEvaluator? = nil
        ) {
            self.text = text
            self.addedFields = addedFields
            self.origin = Origin(run: origin)
        }

        /// The parts of the message that are in the base, in order.
        ///
        /// For a scheme document these are the placeholders of its text, such as `{method}`,
        /// including those that are only hashed. If the body is hashed, the part is the hash, not
        /// the body.
        public var parts: [MessagePart] {
            origin.run.map { SchemeTrace(of: $0).parts } ?? text.parts
        }

        /// The source of `parts` for a scheme document. `==` ignores it.
        private struct Origin: Sendable, Hashable {
            let run: SchemeEvaluator?
            static func == (_: Origin, _: Origin) -> Bool { true }
            func hash(into _: inout Hasher) {}
        }
    }
}
