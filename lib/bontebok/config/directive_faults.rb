# frozen_string_literal: true

module Bontebok
  # Lets a configuration file go on after a directive with a fault, so that --check finds all faults. Used by
  # ConfigFile.
  module DirectiveFaults
    # directives: an instance of a style. The block gets a callable, which runs the directive: it notes the directive's
    # fault and returns nil, or raises the fault.
    def self.note(directives, &note)
      names = directives.public_methods - Object.public_instance_methods
      directives.extend(Module.new do
        [*names, :method_missing].each do |name|
          define_method(name) do |*values, **options, &block|
            note.call { super(*values, **options, &block) }
          end
        end
      end)
    end
  end
end
