# frozen_string_literal: true

module Bontebok
  module ConfigStyles
    # The default logger of hooks if the library logger is missing. Since Ruby 4 it is a gem, which the bundle need not
    # have. unicorn does not start without it; here a hook that only logs does not end the start.
    class PlainLogger
      %i[debug info warn error fatal].each do |level|
        define_method(level) do |text = nil, &block|
          $stderr.write("#{level.upcase} -- #{text || block&.call}\n")
        end
      end
    end
  end
end
