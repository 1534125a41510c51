# frozen_string_literal: true

require "json"

module Runner
  # What a run has cost, beside what it may cost.
  class Costs
    # { name of a group => seconds of processors, servers that start, forks of test processes, calls of compilers }, of
    # a run without --full in a fresh clone. A higher number of starts, forks or calls fails the run: change the number
    # here, or find another place to save.
    LIMITS = File.join(__dir__, "costs.json")
    # Seconds of processors above this share of those in LIMITS give a warning.
    WARNING = 1.1
    DEAREST = 20

    def self.limits = JSON.parse(File.read(LIMITS))

    # limits: {} for a run with --full, which has none.
    def initialize(groups, limits: Costs.limits)
      @groups = groups
      @limits = limits
    end

    # Writes all figures into the file.
    def write(path)
      groups = @groups.to_h { |group| [group.name, figures(group).merge("seconds" => group.seconds.round)] }
      File.write(path, JSON.pretty_generate("groups" => groups, "tests" => dearest))
    end

    # The lines of the summary.
    def lines
      ratio = share
      ["servers started: #{total("starts")}, forks: #{total("forks")}, compiler calls: #{total("compiler calls")}",
       *(format("%.2f times the seconds of processors in #{File.basename(LIMITS)}", ratio) if ratio),
       *("WARNING: this is more than #{WARNING}" if ratio && ratio > WARNING), *excess,
       "the dearest tests, in seconds of processors:",
       *dearest.map { |name, cpu, _seconds| format("%7.1f  %s", cpu, name) }]
    end

    # A line for each number of these groups that is above its limit.
    def excess(groups = @groups)
      groups.flat_map do |group|
        group.counts.filter_map do |key, number|
          limit = @limits.dig(group.name, key)
          "#{group.name}: #{number} #{key}, the limit is #{limit} (#{File.basename(LIMITS)})" if limit && number > limit
        end
      end
    end

    # The groups that have cost no more than they may. Another one runs again, even if it has passed.
    def within_limits = @groups.select { |group| excess([group]).empty? }

    private

    def figures(group)
      { "cpu" => group.cpu_seconds.round, **group.counts }
    end

    def total(key) = @groups.sum { |group| group.counts[key] }

    # The seconds of processors of the groups that have limits, as a share of their limits.
    def share
      known = @groups.select { |group| @limits.key?(group.name) }
      limit = known.sum { |group| @limits[group.name]["cpu"] }
      known.sum(&:cpu_seconds) / limit.to_f if limit.positive?
    end

    def dearest
      @groups.flat_map(&:tests).max_by(DEAREST) { |_name, cpu, _seconds| cpu }
    end
  end
end
