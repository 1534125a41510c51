# frozen_string_literal: true

module Lint
  # The faults of a check, without those that the check lists with a reason.
  module Exceptions
    # found: { name => text of the fault }. listed: { name => reason }. A listed name that is no fault any more is a
    # fault: the list must not hide a later one.
    def self.faults(found, listed)
      gone = listed.keys - found.keys
      found.except(*listed.keys).values + gone.map { |name| "#{name} is listed as an exception, and is no fault" }
    end

    # Prints the listed faults with their reasons.
    def self.print(found, listed)
      found.slice(*listed.keys).each { |name, fault| puts "#{fault}: #{listed[name]}" }
    end
  end
end
