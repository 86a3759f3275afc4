//! Words of a list: the reader takes them in any case, and keeps unknown ones.

/// One of a list of words.
pub(crate) trait Word: Sized {
    /// Returns the word of `text` in any case; none if it is not on the list.
    fn known(text: &str) -> Option<Self>;
    /// Returns a word that is not on the list.
    fn other(text: &str) -> Self;
}

/// Declares an enumeration of words, with further spellings after `|`, and `Other` for the rest.
macro_rules! words {
    (
        $(#[$about:meta])*
        $name:ident { $($word:ident = $text:literal $(| $also:literal)*),+ $(,)? }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name {
            $(
                #[doc = concat!("`", $text, "`")]
                $word,
            )+
            /// A word that the rules do not know, as it is written.
            Other(std::sync::Arc<str>),
        }

        impl $name {
            /// Returns the word.
            pub fn name(&self) -> &str {
                match self {
                    $($name::$word => $text,)+
                    $name::Other(text) => text,
                }
            }
        }

        impl $crate::content::words::Word for $name {
            fn known(text: &str) -> Option<Self> {
                $(
                    if [$text $(, $also)*].iter().any(|known| known.eq_ignore_ascii_case(text)) {
                        return Some($name::$word);
                    }
                )+
                None
            }

            fn other(text: &str) -> Self {
                $name::Other(text.into())
            }
        }
    };
}

pub(crate) use words;
