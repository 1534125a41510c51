# frozen_string_literal: true

module Bontebok
  # Lets a configuration file go on after a directive with a fault, so that all faults are found. Used by ConfigFile.
  module DirectiveFaults
    # directives: an instance of a style. The block gets a callable, which runs the directive: it notes the directive's
    # fault and returns nil, or raises the fault. Returns a callable that ends this, for the hooks of the file.
    def self.note(directives, &note)
      names = [*(directives.public_methods - Object.public_instance_methods), :method_missing]
      noting = Module.new do
        names.each do |name|
          define_method(name) do |*values, **options, &block|
            note.call { super(*values, **options, &block) }
          end
        end
      end
      directives.extend(noting)
      -> { noting.remove_method(*names) }
    end
  end
end
