# frozen_string_literal: true

module Bontebok
  # Replaces methods of Ruby with methods of the server, for code of the application.
  module ReplacedMethods
    # Each method of the module `methods` replaces the method of the same name in owner. That method is still available
    # under a name with the prefix, and has the same visibility.
    #
    # The module is not prepended. An application that wraps the method by alias_method would alias the prepended
    # method, and the two methods would call each other endlessly.
    def self.replace(owner, methods, prefix)
      methods.instance_methods.each do |name|
        hidden = owner.private_method_defined?(name)
        owner.alias_method(:"#{prefix}#{name}", name)
        owner.alias_method(name, name) # against the warning that a method is redefined
        owner.define_method(name, methods.instance_method(name))
        owner.send(:private, name) if hidden
      end
    end
  end
end
