# frozen_string_literal: true

module Bontebok
  # The kinds of values an option can have; OptionTable uses them. A type has
  #
  #   read(value)   what the command line (a String), the configuration file (any Ruby value) or the environment gives,
  #                 made the effective value; raises Invalid, whose message completes "MaxTarget wants ..."
  #   show(value)   an effective value in the form in which it could have been typed
  #   metavar       what stands for a value in the help; nil when there is none to give
  module OptionTypes
  end
end

require_relative "option_types/invalid"
require_relative "option_types/count"
require_relative "option_types/count_or_auto"
require_relative "option_types/size"
require_relative "option_types/duration"
require_relative "option_types/switch"
require_relative "option_types/text"
require_relative "option_types/file_mode"
require_relative "option_types/directory"
require_relative "option_types/log_target"
require_relative "option_types/paths"
require_relative "option_types/addresses"
require_relative "option_types/networks"
