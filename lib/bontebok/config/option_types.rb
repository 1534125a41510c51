# frozen_string_literal: true

module Bontebok
  # The types of options in OptionTable. A type has these methods:
  #
  #   read(value)   converts a value of the command line or the environment (a String) or of the configuration file (any
  #                 Ruby value) to the effective value; raises Invalid with a message that completes
  #                 "max_target wants ..."
  #   show(value)   an effective value as a user would write it
  #   metavar       the placeholder of a value in the help; nil if the option needs no value
  module OptionTypes
  end
end

require_relative "option_types/invalid"
require_relative "option_types/count"
require_relative "option_types/count_or_auto"
require_relative "option_types/thread_count"
require_relative "option_types/size"
require_relative "option_types/duration"
require_relative "option_types/switch"
require_relative "option_types/text"
require_relative "option_types/choice"
require_relative "option_types/file_mode"
require_relative "option_types/control_path"
require_relative "option_types/directories"
require_relative "option_types/directory"
require_relative "option_types/fields"
require_relative "option_types/log_target"
require_relative "option_types/owner"
require_relative "option_types/path_fields"
require_relative "option_types/paths"
require_relative "option_types/sendfile_places"
require_relative "option_types/addresses"
require_relative "option_types/networks"
