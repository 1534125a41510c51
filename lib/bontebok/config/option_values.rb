# frozen_string_literal: true

require_relative "address"
require_relative "option_types"

module Bontebok
  # The types that several options of OptionTable have.
  module OptionValues
    COUNT = OptionTypes::Count.new(0..(1 << 31))
    DURATION = OptionTypes::Duration.new
    SWITCH = OptionTypes::Switch.new
    SIZE = OptionTypes::Size.new(0..(1 << 40))
    BYTES_PER_SECOND = OptionTypes::Size.new(0..(1 << 30))
    FILE = OptionTypes::Text.new("FILE", /\A[^\0]+\z/, "a file")
    # The core has 256 bytes for a directory.
    DIRECTORY = OptionTypes::Directory.new("DIR", /\A[^\0]{1,255}\z/, "a directory of at most 255 bytes")
    # A text that begins with | is rejected. In Apache's configuration, |PROGRAM is a command; here it would be a file
    # name.
    LOG_TARGET = OptionTypes::LogTarget.new("FILE", /\A(?!\|)[^\0]{0,255}\z/,
                                            "a file, - or syslog:..., of at most 255 bytes")
    PATH = OptionTypes::Directory.new("FILE", /\A[^\0]+\z/, "a file")
    CONTROL = OptionTypes::ControlPath.new("FILE|none", /\A[^\0]{1,#{Address::LONGEST_PATH}}\z/,
                                           "a file of at most #{Address::LONGEST_PATH} bytes, or none")
    # The core has 256 bytes for the path.
    REQUEST_PATH = OptionTypes::Text.new("PATH", %r{\A(?:/[!-~&&[^?#]]{0,254})?\z},
                                         "a path that begins with /, of at most 255 characters")
    STYLE = OptionTypes::Choice.new("NAME", %w[bontebok puma unicorn pitchfork rhebok])
    HUP = OptionTypes::Choice.new("WHAT", %w[reopen deploy stop])
    WORD = OptionTypes::Text.new("NAME", /\A[A-Za-z0-9_.-]+\z/, "a name of letters, digits and _ . -")
    TAG = OptionTypes::Text.new("TEXT", /\A[\x20-\x7e]{0,63}\z/, "at most 63 printable ASCII characters")
    USER = OptionTypes::Text.new("USER[:GROUP]", /\A[^\0\s:]+(?::[^\0\s:]+)?\z/, "a user, or USER:GROUP")
    OWNER = OptionTypes::Owner.new("[USER][:GROUP]", /\A(?=.)[^\0\s:]*(?::[^\0\s:]+)?\z/,
                                   "a user, USER:GROUP, or :GROUP")
    # The core has 1024 bytes for the format.
    LOG_FORMAT = OptionTypes::Text.new("FORMAT", /\A[^\0\n]{1,1023}\z/, "a line of at most 1023 bytes")
    LOG_STYLE = OptionTypes::Choice.new("text|json", %w[text json])
    LOG_LEVEL = OptionTypes::Choice.new("LEVEL", %w[info warn error])
    # The core has 64 bytes for this text.
    PRODUCT = OptionTypes::Text.new("TEXT", /\A[\x21-\x7e]?(?:[\x20-\x7e]{0,61}[\x21-\x7e])?\z/,
                                    "at most 63 printable ASCII characters")
  end
end
