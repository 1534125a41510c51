# frozen_string_literal: true

module Bontebok
  module Status
    # Numbers as people read them. "-" means that the number is not known. A bound is where the text is rounded up to
    # the next unit or digit: 0.9995 s is no "1000 ms".
    module Units
      MINUTE = 60
      HOUR = 60 * MINUTE
      DAY = 24 * HOUR
      KILO = 1024
      MEMORY = %w[B KB MB GB TB PB EB].freeze

      class << self
        # A duration that people compare: "0.03 ms", "12 ms", "11.5 s", "8 min".
        def duration(seconds)
          return "-" unless seconds
          return "#{milliseconds(seconds * 1000)} ms" if seconds < 0.9995

          seconds < 99.95 ? format("%.1f s", seconds) : age(seconds)
        end

        # A duration in whole units, rounded down: "11 s", "8 min", "3 days".
        def age(seconds)
          return "-" unless seconds
          return "#{seconds.to_i} s" if seconds < 2 * MINUTE
          return "#{(seconds / MINUTE).to_i} min" if seconds < 2 * HOUR

          seconds < 2 * DAY ? "#{(seconds / HOUR).to_i} h" : "#{(seconds / DAY).to_i} days"
        end

        def rate(per_second)
          return "-" unless per_second
          return "0" if per_second.zero?
          return "<0.1" if per_second < 0.1

          per_second < 9.95 ? format("%.1f", per_second) : per_second.round.to_s
        end

        def memory(bytes)
          return "-" unless bytes

          power = 0
          power += 1 while bytes >= 9999.5 * (KILO**power) && power < MEMORY.size - 1
          power = [power, 2].max # small numbers in MB too, so that people can compare them
          amount = bytes.fdiv(KILO**power)
          format(amount < 9.95 ? "%.1f %s" : "%.0f %s", amount, MEMORY[power])
        end

        # share: 1.0 is 100 %.
        def percent(share)
          return "-" unless share

          share < 0.0995 ? format("%.1f %%", share * 100) : "#{(share * 100).round} %"
        end

        # A time of day, with the date if it is another day. zone: as for Time.at; nil: the local zone.
        def clock(time, now, zone = nil)
          return "?" unless time

          time = Time.at(time, in: zone)
          day = "%Y-%m-%d"
          same = now && Time.at(now, in: zone).strftime(day) == time.strftime(day)
          time.strftime(same ? "%H:%M" : "#{day} %H:%M")
        end

        # "1 worker", "2 workers"
        def several(count, noun)
          "#{count || '?'} #{noun}#{'s' unless count == 1}"
        end

        private

        def milliseconds(value)
          return "0" if value < 0.001

          value < 9.95 ? format("%.2g", value) : value.round.to_s
        end
      end
    end
  end
end
