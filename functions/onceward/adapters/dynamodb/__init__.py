"""The ``Store`` port in DynamoDB: keys, codecs, conditions and the stores of each concern."""
