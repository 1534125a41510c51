# frozen_string_literal: true

module Bontebok
  module Status
    # The notes about deploys and about ends of workers, which the server keeps beside its totals.
    module Notes
      MOST = 20
      # The text of a note after which another generation serves (DeployReport).
      SERVES = /\Ageneration (\d{1,9}) serves \((\w+)/n
      private_constant :MOST, :SERVES

      class << self
        # notes: [[ms since 1970, text], ...], the oldest first. Returns the last ones, as Hashes.
        def events(notes)
          notes.last(MOST).map { |time, text| { time: time / 1000.0, text: text } }
        end

        # deploys: the events about deploys. Returns which generation serves, since when, and by what; empty: not noted.
        def serving(deploys)
          deploys.reverse_each do |deploy|
            match = SERVES.match(deploy[:text].b)
            return { serving_since: deploy[:time], by: match[2], generation: match[1].to_i } if match
          end
          {}
        end
      end
    end
  end
end
